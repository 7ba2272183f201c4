// The records of files as a lens sees them, and faults of lens and data as objections of a command.
import type { Tell } from '../../roles/resolution/engine/progress.ts'
import {
  isWantedBy,
  LensFault,
  type Records,
  recordsOf,
  type Source,
} from '../../roles/resolution/engine/records/records.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import { readDataFile } from './data-file.ts'
import { Objection } from './objection.ts'

/** Each file is one source. Throws `Objection` (1). */
export function readSources(lens: Lens, files: readonly string[], tell: Tell): Source[] {
  return files.map((file) => {
    tell({ phase: 'read', done: 0, total: 0 })
    return readDataFile(file, isWantedBy(lens))
  })
}

/** Throws `Objection` (1) where the data and the lens do not fit. */
export function seenBy(lens: Lens, sources: readonly Source[]): Records {
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
