// What has come of a set that a peer sends: counted before it is kept, so that no peer brings more than was agreed.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { PieceMessage } from '../message/exchange-message.ts'
import type { ExchangeRound, StoredExchange } from '../model.ts'

/** Rows and bytes of one piece of records, as they travel. */
type PieceAmount = { readonly rows: number; readonly bytes: number }

/** Whether every piece of the set has been counted: only then it is worth while to look whether all of them are kept. */
export function isSetCounted({ coming }: Pick<StoredExchange, 'coming'>, from: string, round: ExchangeRound): boolean {
  const set = coming?.[`${from}.${round}`]
  return set !== undefined && Object.keys(set.pieces).length === set.of
}

/**
 * `bytes`: of the piece as it is kept. The exchange with this piece counted; the same value for one that was counted before. Refuses one that belongs to another
 * set than those before it, and with records more rows than the site told of (`invalid`) or bytes than were agreed
 * (`over_budget`). A piece that is counted and then not kept, since the process ended between, counts once when it comes again.
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
    return refuse('invalid', `${before.items} ${round} in ${before.of} pieces were told of, and now ${items} in ${of}`)
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
  if (rows > items) return refuse('invalid', `${rows} records of ${from}, which told of ${items}`)
  if (bytes <= max_set_bytes) return undefined
  return refuse('over_budget', `${bytes} bytes of records of ${from}, where ${max_set_bytes} were agreed`)
}
