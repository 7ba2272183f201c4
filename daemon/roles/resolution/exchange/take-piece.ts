// Takes a piece of what a peer sends, where the plan expects it: judged and counted before a byte of it is kept.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { settings } from '../settings.ts'
import { changeExchange } from './change.ts'
import { counted } from './coming.ts'
import type { SentPiece } from './messages.ts'
import { exchangePieces, isOver, type StoredExchange } from './model.ts'
import { dropPieces, objectionTo, pieceId } from './pieces.ts'

/** Undefined when it is kept, or was before. */
export async function takePiece(
  call: Call,
  current: StoredExchange,
  src: string,
  said: SentPiece,
): Promise<Refused | undefined> {
  const { exchange_id, round, number, of, items, data, rows } = said
  if (current.state === 'proposed') {
    // What overtook the agreement comes again; who has not been agreed with has nothing to send.
    const isEarly = current.part === 'proposer'
    return isEarly
      ? refuse('unavailable', 'the peer has not said yet that it agrees')
      : refuse('invalid', 'nothing is agreed')
  }
  const objection = objectionTo(said, current, src, call.site.name, call.settings(settings).max_matches)
  if (objection) return refuse('invalid', objection)
  const text = data ?? JSON.stringify(rows)
  const expected = await changeExchange(call, exchange_id, 'resolution.exchange.piece', (now) =>
    isOver(now) ? now : counted(now, src, said, Buffer.byteLength(text)),
  )
  if (isRefused(expected)) return expected
  if (isOver(expected.value)) return undefined
  const { tenant_id } = current
  const kept = { tenant_id, exchange_id, from: src, what: round, number, of, items, data: text }
  const made = await call.store(exchangePieces).create(pieceId(exchange_id, src, round, number), kept)
  if (made === 'exists') {
    const { value } = await call.store(exchangePieces).get(pieceId(exchange_id, src, round, number))
    if (value.data !== kept.data)
      return refuse('already_exists', `piece ${number} of the ${round} came before, and was another`)
  }
  return await heardOf(call, exchange_id, made !== 'exists')
}

/** A repeat is looked at too: the process may have ended before it said that the piece is here. It is no progress. */
async function heardOf(call: Call, exchange_id: string, isNew: boolean): Promise<Refused | undefined> {
  const told = await changeExchange(call, exchange_id, 'resolution.exchange.piece', (now) => {
    if (isOver(now)) return now
    return { ...now, heard: now.heard + 1, owes: 1, ...(isNew ? { updated_at: call.nowIso() } : {}) }
  })
  if (isRefused(told)) return told
  // It ended meanwhile: what was dropped with it may not have had this piece yet.
  if (isOver(told.value)) await dropPieces(call, exchange_id)
  return undefined
}
