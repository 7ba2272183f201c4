// Reads the records of files through a lens, and reports faults of lens and data as errors of the command.

import type { DataKind } from '../../../adapters/platform/data-file/data-kinds.ts'
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
import { OfflineCommandError } from '../offline-command-error.ts'
import { readDataFile } from './data-file.ts'

/** Reads the records; each file is one source. Throws `OfflineCommandError` (1). */
export async function readLensRecords(
  lens: Lens,
  files: readonly string[],
  onProgress: EngineProgressListener,
  kind?: DataKind,
): Promise<LensRecords> {
  const options = {
    kind,
    id: getIdLimit(lens),
    onProgress: (done: number, total: number) => onProgress({ phase: 'read', done, total }),
  }
  const sources: RecordSource[] = []
  for (const file of files) sources.push(await readDataFile(file, createColumnFilter(lens), options))
  return convertLensFaults(() => buildRecords(lens, sources))
}

/** Converts a `LensFault` of the engine, which the user must correct, to `OfflineCommandError` (1). */
export function convertLensFaults<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof LensFault) throw new OfflineCommandError(1, error.message)
    throw error
  }
}
