// Records of a text of comma-separated values, seen by a lens.
import { CsvReader } from '../../daemon/roles/resolution/engine/records/csv.ts'
import { isWantedBy, type Records, recordsOf } from '../../daemon/roles/resolution/engine/records/records.ts'
import type { Lens } from '../../daemon/roles/resolution/lens/model.ts'

export function seenRecords(lens: Lens, csv: string): Records {
  const reader = new CsvReader({ field_bytes: 1_000_000, rows: 1_000_000 }, isWantedBy(lens))
  reader.push(Buffer.from(csv))
  return recordsOf(lens, [{ name: 'records', ...reader.finish() }])
}
