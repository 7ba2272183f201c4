// What a site brings, as rows in pieces: no more than was agreed, and nothing that no message holds.
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { Lens } from '../lens/model.ts'
import { recordKeys } from '../privacy/record-keys.ts'
import { cutRows, most_letters, piece_bytes } from './cutting.ts'
import type { OwnData, OwnTerms } from './deeds.ts'
import { type Given, type Row, rowsOf, seenRows } from './rows.ts'

export function ownRows(lens: Lens, terms: OwnTerms, records: readonly Given[]): OwnData | Refused {
  const { fields, privacy, max_set_size } = terms
  if (records.length > max_set_size)
    return refuse('invalid', `there are ${records.length} records, and the agreement allows ${max_set_size}`)
  const rows = rowsOf(lens, fields, records)
  if (isRefused(rows)) return rows
  const size = privacy === 'psi' ? recordKeys(seenRows(lens, fields, rows), fields).keys.length : rows.length
  if (size === 0) return refuse('invalid', 'no record has all of the agreed fields')
  const pieces = cutRows(rows)
  const refused = privacy === 'none' ? unsendable(rows, pieces, terms) : undefined
  return refused ?? { pieces, records: rows.length, size }
}

/** Records that travel as they are. */
function unsendable(rows: readonly Row[], pieces: readonly string[], { max_set_bytes }: OwnTerms): Refused | undefined {
  for (const [at, row] of rows.entries()) {
    const isLong = row.some((value) => value.length > most_letters)
    if (isLong || Buffer.byteLength(JSON.stringify(row)) > piece_bytes)
      return refuse('invalid', `record ${at + 1} is longer than a message may be`)
  }
  const bytes = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
  if (bytes <= max_set_bytes) return undefined
  return refuse('invalid', `the records have ${bytes} bytes, and the agreement allows ${max_set_bytes}`)
}
