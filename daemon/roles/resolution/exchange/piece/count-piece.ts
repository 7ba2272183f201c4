// Counts the pieces of a set before they are stored, so that a peer never stores more than the agreement allows.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { PieceMessage } from '../message/exchange-message.ts'
import type { ExchangeRound, StoredExchange } from '../model.ts'

/** Rows and bytes of one piece of records, as sent. */
type PieceAmount = { readonly rows: number; readonly bytes: number }

/** Whether every piece of the set has been counted: only then can all of them be stored. */
export function isSetCounted({ coming }: Pick<StoredExchange, 'coming'>, from: string, round: ExchangeRound): boolean {
  const set = coming?.[`${from}.${round}`]
  return set !== undefined && Object.keys(set.pieces).length === set.of
}

/**
 * Returns the exchange with this piece counted, or the same value for a piece counted before. `bytes`: size of the
 * stored piece. Refuses a piece of another set than the pieces before it. Of records, refuses more rows than the site
 * announced (`invalid`) and more bytes than agreed (`over_budget`). A piece that was counted but not stored, since the
 * process ended in between, counts once when it is sent again.
 */
export function countPiece(
  current: StoredExchange,
  from: string,
  { round, number, of, items, rows = [] }: Pick<PieceMessage, 'round' | 'number' | 'of' | 'items' | 'rows'>,
  bytes: number,
): StoredExchange | Refusal {
  const key = `${from}.${round}`
  const before = current.coming?.[key]
  if (before && (before.of !== of || before.items !== items))
    return refuse(
      'invalid',
      `the set of ${round} was announced as ${before.items} items in ${before.of} pieces, and now as ${items} in ${of}`,
    )
  const counted = before?.pieces[number]
  const piece = { rows: Math.max(rows.length, counted?.rows ?? 0), bytes: Math.max(bytes, counted?.bytes ?? 0) }
  if (counted && counted.rows === piece.rows && counted.bytes === piece.bytes) return current
  const pieces = { ...before?.pieces, [number]: piece }
  if (round === 'records') {
    const refused = checkReceivedAmount(Object.values(pieces), items, current.agreement.max_set_bytes, from)
    if (refused) return refused
  }
  return { ...current, coming: { ...current.coming, [key]: { of, items, pieces } } }
}

function checkReceivedAmount(
  pieces: readonly PieceAmount[],
  items: number,
  max_set_bytes: number,
  from: string,
): Refusal | undefined {
  const rows = pieces.reduce((sum, piece) => sum + piece.rows, 0)
  const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0)
  if (rows > items) return refuse('invalid', `${from} sent ${rows} records, and announced ${items}`)
  if (bytes <= max_set_bytes) return undefined
  return refuse('over_budget', `${from} sent ${bytes} bytes of records, and the agreement allows ${max_set_bytes}`)
}
