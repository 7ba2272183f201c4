// Records of a text of comma-separated values, seen by a lens.
import { readCsv } from '../../../adapters/format/csv/read-csv.ts'
import { usualCsv } from '../../../daemon/kernel/data/csv-dialect.ts'
import { usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { collectColumns } from '../../../daemon/roles/resolution/engine/records/collect-columns.ts'
import {
  buildRecords,
  createColumnFilter,
  type LensRecords,
} from '../../../daemon/roles/resolution/engine/records/records.ts'
import type { Lens } from '../../../daemon/roles/resolution/lens/model.ts'
import { memorySource } from '../data/memory-source.ts'

export async function buildLensRecords(lens: Lens, csv: string): Promise<LensRecords> {
  const options = { limits: usualLimits, isSelected: createColumnFilter(lens) }
  const content = await collectColumns(readCsv(memorySource(Buffer.from(csv)), usualCsv, options))
  return buildRecords(lens, [{ name: 'records', ...content }])
}
