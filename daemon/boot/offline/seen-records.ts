// The records of files as a lens sees them, and faults of lens and data as objections of a command.
import type { Tell } from '../../roles/resolution/engine/progress.ts'
import {
  idLimit,
  isWantedBy,
  LensFault,
  type Records,
  recordsOf,
  type Source,
} from '../../roles/resolution/engine/records/records.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import type { DataKind } from '../resolution/read-records.ts'
import { readDataFile } from './data-file.ts'
import { Objection } from './objection.ts'

/** Each file is one source; what was read goes as soon as the records are made of it. Throws `Objection` (1). */
export async function recordsIn(lens: Lens, files: readonly string[], tell: Tell, kind?: DataKind): Promise<Records> {
  const reading = {
    kind,
    id: idLimit(lens),
    tell: (done: number, total: number) => tell({ phase: 'read', done, total }),
  }
  const sources: Source[] = []
  for (const file of files) sources.push(await readDataFile(file, isWantedBy(lens), reading))
  return faultless(() => recordsOf(lens, sources))
}

/** What the engine finds wrong with lens or data is the user's to mend. Throws `Objection` (1). */
export function faultless<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof LensFault) throw new Objection(1, error.message)
    throw error
  }
}
