// The records of files as a lens sees them, and faults of lens and data as objections of a command.
import type { EngineProgressListener } from '../../roles/resolution/engine/progress.ts'
import {
  buildRecords,
  createColumnFilter,
  getIdLimit,
  LensFault,
  type LensRecords,
  type RecordSource,
} from '../../roles/resolution/engine/records/records.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import type { DataKind } from '../../runtime/resolution/read-records.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { readDataFile } from './data-file.ts'

/** Each file is one source; what was read goes as soon as the records are made of it. Throws `OfflineCommandError` (1). */
export async function readLensRecords(
  lens: Lens,
  files: readonly string[],
  tell: EngineProgressListener,
  kind?: DataKind,
): Promise<LensRecords> {
  const reading = {
    kind,
    id: getIdLimit(lens),
    tell: (done: number, total: number) => tell({ phase: 'read', done, total }),
  }
  const sources: RecordSource[] = []
  for (const file of files) sources.push(await readDataFile(file, createColumnFilter(lens), reading))
  return convertLensFaults(() => buildRecords(lens, sources))
}

/** What the engine finds wrong with lens or data is the user's to mend. Throws `OfflineCommandError` (1). */
export function convertLensFaults<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof LensFault) throw new OfflineCommandError(1, error.message)
    throw error
  }
}
