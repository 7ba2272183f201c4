// Receives a piece of a set from a peer: checks it against the plan and counts it before it is stored.

import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { wakeJob } from '../../../../kernel/job/rules.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { settings } from '../../settings.ts'
import { changeExchange } from '../change-exchange.ts'
import type { PieceMessage } from '../message/exchange-message.ts'
import { exchangePieces, isOver, type StoredExchange } from '../model.ts'
import { countPiece } from './count-piece.ts'
import { findPieceFault } from './find-piece-fault.ts'
import { dropPieces, pieceId } from './piece-sets.ts'

/** Returns undefined once the piece is stored, now or by an earlier delivery. */
export async function receivePiece(
  call: Call,
  current: StoredExchange,
  src: string,
  message: PieceMessage,
): Promise<Refusal | undefined> {
  const { exchange_id, round, number, of, items, data, rows } = message
  // Messages of a peer are applied in order: no acceptance can follow a piece, so that a retry would block all others.
  if (current.state === 'proposed' && !current.agreed.includes(src))
    return refuse(
      'invalid',
      current.part === 'proposer'
        ? `${src} sent a piece before its acceptance of the exchange`
        : 'this site has not agreed to the exchange',
    )
  const fault = findPieceFault(message, current, src, call.site.name, call.settings(settings).max_matches)
  if (fault) return refuse('invalid', fault)
  const text = data ?? JSON.stringify(rows)
  const counted = await changeExchange(call, exchange_id, 'resolution.exchange.piece', (now) =>
    isOver(now) ? now : countPiece(now, src, message, Buffer.byteLength(text)),
  )
  if (isRefusal(counted)) return counted
  if (isOver(counted.value)) return undefined
  const { tenant_id } = current
  const piece = { tenant_id, exchange_id, from: src, what: round, number, of, items, data: text }
  const created = await call.store(exchangePieces).create(pieceId(exchange_id, src, round, number), piece)
  if (created === 'exists') {
    const { value } = await call.store(exchangePieces).get(pieceId(exchange_id, src, round, number))
    if (value.data !== piece.data)
      return refuse('already_exists', `piece ${number} of the ${round} was received before with other content`)
  }
  return await noteReceivedPiece(call, exchange_id, created !== 'exists')
}

/** Records the arrival, also of a repeat: the process may have ended before it did. A repeat is not progress. */
async function noteReceivedPiece(call: Call, exchange_id: string, isNew: boolean): Promise<Refusal | undefined> {
  const changed = await changeExchange(call, exchange_id, 'resolution.exchange.piece', (now) => {
    if (isOver(now)) return now
    return wakeJob(isNew ? { ...now, updated_at: call.nowIso() } : now, call.now())
  })
  if (isRefusal(changed)) return changed
  // The exchange ended meanwhile, and its pieces may have been dropped before this one was stored.
  if (isOver(changed.value)) await dropPieces(call, exchange_id)
  return undefined
}
