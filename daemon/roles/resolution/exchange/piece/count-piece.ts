// Counts the pieces of a set before they are stored, so that a peer never stores more than was agreed.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { PieceMessage } from '../message/exchange-message.ts'
import type { ExchangeRound, StoredExchange } from '../model.ts'

/** Rows and bytes of one piece of records, as they travel. */
type PieceAmount = { readonly rows: number; readonly bytes: number }

/** Whether every piece of the set has been counted: only then can all of them be stored. */
export function isSetCounted({ coming }: Pick<StoredExchange, 'coming'>, from: string, round: ExchangeRound): boolean {
  const set = coming?.[`${from}.${round}`]
  return set !== undefined && Object.keys(set.pieces).length === set.of
}

/**
 * Returns the exchange with this piece counted; the same value for one that was counted before. `bytes`: of the stored piece.
 * Refuses a piece of another set than those before it, and of records more rows than the site announced (`invalid`) or more
 * bytes than were agreed (`over_budget`). A piece that was counted and not stored, since the process ended in between, counts
 * once when it is sent again.
 */
export function countPiece(
  current: StoredExchange,
  from: string,
  { round, number, of, items, rows: sent = [] }: Pick<PieceMessage, 'round' | 'number' | 'of' | 'items' | 'rows'>,
  bytes: number,
): StoredExchange | Refusal {
  const key = `${from}.${round}`
  const before = current.coming?.[key]
  if (before && (before.of !== of || before.items !== items))
    return refuse(
      'invalid',
      `the set of ${round} was announced as ${before.items} items in ${before.of} pieces, and now as ${items} in ${of}`,
    )
  const known = before?.pieces[number]
  const piece = { rows: Math.max(sent.length, known?.rows ?? 0), bytes: Math.max(bytes, known?.bytes ?? 0) }
  if (known && known.rows === piece.rows && known.bytes === piece.bytes) return current
  const pieces = { ...before?.pieces, [number]: piece }
  if (round === 'records') {
    const refused = checkReceivedAmount(Object.values(pieces), items, current.agreement.max_set_bytes, from)
    if (refused) return refused
  }
  return { ...current, coming: { ...current.coming, [key]: { of, items, pieces } } }
}

function checkReceivedAmount(
  all: readonly PieceAmount[],
  items: number,
  max_set_bytes: number,
  from: string,
): Refusal | undefined {
  const rows = all.reduce((sum, each) => sum + each.rows, 0)
  const bytes = all.reduce((sum, each) => sum + each.bytes, 0)
  if (rows > items) return refuse('invalid', `${from} sent ${rows} records, and announced ${items}`)
  if (bytes <= max_set_bytes) return undefined
  return refuse('over_budget', `${from} sent ${bytes} bytes of records, and the agreement allows ${max_set_bytes}`)
}
