// Sets of data cut to what a message holds, and put together again; a thread loads this, and so it imports nothing that is large.
import type { ExchangeRow } from '../job/exchange-rows.ts'

/** Bytes of a piece, before base64url makes them a third more; a body may have 4 MiB. */
export const max_piece_bytes = 1_572_864

/** Of one value of a record, in UTF-16 units. */
export const max_value_characters = 65_536

/** Two places and a score. */
export const pair_bytes = 16

/** Bytes in pieces of whole items; one empty piece for no items, so that an empty set arrives as well. */
export function cutBytes(bytes: Uint8Array, width: number): string[] {
  const each = Math.floor(max_piece_bytes / width) * width
  const count = Math.max(1, Math.ceil(bytes.length / each))
  return Array.from({ length: count }, (_, at) =>
    Buffer.from(bytes.subarray(at * each, (at + 1) * each)).toString('base64url'),
  )
}

/** Rows in pieces of about as many bytes. */
export function cutRows(rows: readonly ExchangeRow[]): string[] {
  const pieces: string[] = []
  let piece: ExchangeRow[] = []
  let bytes = 0
  for (const row of rows) {
    const more = Buffer.byteLength(JSON.stringify(row))
    if (bytes + more > max_piece_bytes && piece.length > 0) {
      pieces.push(JSON.stringify(piece))
      piece = []
      bytes = 0
    }
    piece.push(row)
    bytes += more
  }
  return [...pieces, JSON.stringify(piece)]
}

/** The rows of all pieces. */
export function parseRows(pieces: readonly string[]): ExchangeRow[] {
  return pieces.flatMap((data) => JSON.parse(data) as ExchangeRow[])
}
