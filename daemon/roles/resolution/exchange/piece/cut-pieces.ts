// Cuts sets of data into pieces that fit a message, and joins them again. Threads load this file, so it imports nothing
// large.
import { bodyLimits } from '../../../../kernel/messaging/body-limits.ts'
import type { ExchangeRow } from '../job/exchange-rows.ts'

/** Bytes of a piece before base64url, which adds a third; a request body may have 4 MiB. */
export const max_piece_bytes = 1_572_864

/** JSON values of a piece of rows: the message and its label have up to a thousand more. */
export const max_piece_values = bodyLimits.max_values - 1_000

/** Limit of one value of a record, in UTF-16 units. */
export const max_value_characters = 65_536

/** Size of a pair: two positions of 4 bytes and a score of 8. */
export const pair_bytes = 16

/** Cuts bytes at item boundaries. An empty set becomes one empty piece, so that the receiver can count it. */
export function cutBytes(bytes: Uint8Array, width: number): string[] {
  const piece_bytes = Math.floor(max_piece_bytes / width) * width
  const count = Math.max(1, Math.ceil(bytes.length / piece_bytes))
  return Array.from({ length: count }, (_, at) =>
    Buffer.from(bytes.subarray(at * piece_bytes, (at + 1) * piece_bytes)).toString('base64url'),
  )
}

/** Counts the JSON values of a row of so many texts. */
export function countRowValues(texts: number): number {
  return texts + 1
}

/** Cuts rows into pieces of at most `max_piece_bytes` and `max_piece_values`; a larger single row becomes a piece of its own. */
export function cutRows(rows: readonly ExchangeRow[]): string[] {
  const pieces: string[] = []
  let piece: ExchangeRow[] = []
  let [bytes, values] = [0, 0]
  for (const row of rows) {
    const row_bytes = Buffer.byteLength(JSON.stringify(row))
    const row_values = countRowValues(row.length)
    const isFull = bytes + row_bytes > max_piece_bytes || values + row_values > max_piece_values
    if (isFull && piece.length > 0) {
      pieces.push(JSON.stringify(piece))
      piece = []
      bytes = 0
      values = 0
    }
    piece.push(row)
    bytes += row_bytes
    values += row_values
  }
  return [...pieces, JSON.stringify(piece)]
}

export function parseRows(pieces: readonly string[]): ExchangeRow[] {
  return pieces.flatMap((data) => JSON.parse(data) as ExchangeRow[])
}
