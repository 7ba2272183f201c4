// Records of a text of comma-separated values, seen by a lens.
import { CsvReader } from '../../../daemon/roles/resolution/engine/records/csv.ts'
import {
  buildRecords,
  createColumnFilter,
  type LensRecords,
} from '../../../daemon/roles/resolution/engine/records/records.ts'
import type { Lens } from '../../../daemon/roles/resolution/lens/model.ts'

export function buildLensRecords(lens: Lens, csv: string): LensRecords {
  const reader = new CsvReader({ field_bytes: 1_000_000, rows: 1_000_000, names: 1_000 }, createColumnFilter(lens))
  reader.push(Buffer.from(csv))
  return buildRecords(lens, [{ name: 'records', ...reader.finish() }])
}
