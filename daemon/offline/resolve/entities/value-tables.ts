// The tables of a run that have values of the data: its records with all columns, and one row for each entity.
import { type EngineProgressListener, reportPhaseStart } from '../../../roles/resolution/engine/progress.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import { type FileRecords, type RecordReading, readLensSources } from '../lens-records.ts'
import type { BlockTable, ResultTable } from '../result-file.ts'
import { buildEntityTable } from './entity-table.ts'
import { buildRecordTable } from './record-table.ts'

type ResolvedFiles = {
  readonly lens: Lens
  readonly files: readonly string[]
  /** Has the versions of the files, since both tables read them once more. */
  readonly reading: RecordReading
  readonly records: FileRecords
  /** Number of the cluster of each record, from 1. */
  readonly numbers: Int32Array
  /** Entity ids by cluster number, if a registry keeps them. */
  readonly entities: readonly string[] | undefined
  readonly onProgress: EngineProgressListener
}

/** Reads the columns of the lens again rather than holding them in memory while pairs are compared. */
export async function buildValueTables(run: ResolvedFiles): Promise<(ResultTable | BlockTable)[]> {
  const { lens, files, reading, records, numbers, entities, onProgress } = run
  // Remarks were made when the files were read first.
  const again = { ...reading, onRemark: undefined }
  const sources = await readLensSources(lens, files, onProgress, again)
  let done = 0
  const onEntity = () => {
    if (++done % entities_per_report === 0) reportPhaseStart(onProgress, 'write')
  }
  return [
    buildRecordTable({ records, numbers, entities, input: reading, onProgress }),
    buildEntityTable({ lens, records, sources, numbers, entities, onEntity }),
  ]
}

const entities_per_report = 10_000
