// Takes a piece of what a peer sends, where the plan expects it: judged and counted before a byte of it is kept.

import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { settings } from '../../settings.ts'
import { changeExchange } from '../change-exchange.ts'
import type { PieceMessage } from '../message/exchange-message.ts'
import { exchangePieces, isOver, type StoredExchange } from '../model.ts'
import { countPiece } from './count-piece.ts'
import { findPieceFault } from './find-piece-fault.ts'
import { dropPieces, pieceId } from './piece-sets.ts'

/** Undefined when it is kept, or was before. */
export async function receivePiece(
  call: Call,
  current: StoredExchange,
  src: string,
  message: PieceMessage,
): Promise<Refusal | undefined> {
  const { exchange_id, round, number, of, items, data, rows } = message
  if (current.state === 'proposed') {
    // What overtook the agreement comes again; who has not been agreed with has nothing to send.
    const isEarly = current.part === 'proposer'
    return isEarly
      ? refuse('unavailable', 'the peer has not said yet that it agrees')
      : refuse('invalid', 'nothing is agreed')
  }
  const objection = findPieceFault(message, current, src, call.site.name, call.settings(settings).max_matches)
  if (objection) return refuse('invalid', objection)
  const text = data ?? JSON.stringify(rows)
  const expected = await changeExchange(call, exchange_id, 'resolution.exchange.piece', (now) =>
    isOver(now) ? now : countPiece(now, src, message, Buffer.byteLength(text)),
  )
  if (isRefusal(expected)) return expected
  if (isOver(expected.value)) return undefined
  const { tenant_id } = current
  const kept = { tenant_id, exchange_id, from: src, what: round, number, of, items, data: text }
  const made = await call.store(exchangePieces).create(pieceId(exchange_id, src, round, number), kept)
  if (made === 'exists') {
    const { value } = await call.store(exchangePieces).get(pieceId(exchange_id, src, round, number))
    if (value.data !== kept.data)
      return refuse('already_exists', `piece ${number} of the ${round} came before, and was another`)
  }
  return await noteReceivedPiece(call, exchange_id, made !== 'exists')
}

/** A repeat is looked at too: the process may have ended before it said that the piece is here. It is no progress. */
async function noteReceivedPiece(call: Call, exchange_id: string, isNew: boolean): Promise<Refusal | undefined> {
  const told = await changeExchange(call, exchange_id, 'resolution.exchange.piece', (now) => {
    if (isOver(now)) return now
    return { ...now, heard: now.heard + 1, owes: 1, ...(isNew ? { updated_at: call.nowIso() } : {}) }
  })
  if (isRefusal(told)) return told
  // It ended meanwhile: what was dropped with it may not have had this piece yet.
  if (isOver(told.value)) await dropPieces(call, exchange_id)
  return undefined
}
