// Reduces the records of a site to rows, cut into pieces within the agreed size and the size of a message.
import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { NodeRecord } from '../../fusion-run/node-data.ts'
import type { Lens } from '../../lens/model.ts'
import { buildRecordKeys } from '../../privacy/record-keys.ts'
import { cutRows, max_piece_bytes, max_value_characters } from '../piece/cut-pieces.ts'
import type { OwnRecordSet, OwnRecordTerms } from './exchange-jobs.ts'
import { buildLensRecords, buildRows, type ExchangeRow } from './exchange-rows.ts'

export function prepareOwnRows(
  lens: Lens,
  terms: OwnRecordTerms,
  records: readonly NodeRecord[],
): OwnRecordSet | Refusal {
  const { fields, privacy, max_set_size } = terms
  if (records.length > max_set_size)
    return refuse(
      'invalid',
      `the data has ${records.length} records, and the agreement allows ${max_set_size}: send fewer records`,
    )
  const rows = buildRows(lens, fields, records)
  if (isRefusal(rows)) return rows
  const size =
    privacy === 'psi' ? buildRecordKeys(buildLensRecords(lens, fields, rows), fields).keys.length : rows.length
  if (size === 0) return refuse('invalid', 'no record has values in all agreed fields')
  const pieces = cutRows(rows)
  const refused = privacy === 'none' ? checkSendable(rows, pieces, terms) : undefined
  return refused ?? { pieces, records: rows.length, size }
}

/** Checks the limits of records that are sent unencoded. */
function checkSendable(
  rows: readonly ExchangeRow[],
  pieces: readonly string[],
  { max_set_bytes }: OwnRecordTerms,
): Refusal | undefined {
  for (const [at, row] of rows.entries()) {
    const isLong = row.some((value) => value.length > max_value_characters)
    if (isLong || Buffer.byteLength(JSON.stringify(row)) > max_piece_bytes)
      return refuse('invalid', `record ${at + 1} is larger than a message allows (${max_piece_bytes} bytes)`)
  }
  const bytes = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
  if (bytes <= max_set_bytes) return undefined
  return refuse(
    'invalid',
    `the records have ${bytes} bytes, and the agreement allows ${max_set_bytes}: send fewer records`,
  )
}
