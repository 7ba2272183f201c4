// Reads the records of files through a lens, and reports faults of lens and data as errors of the command.
import { basename } from 'node:path'
import type { DataKind } from '../../../adapters/platform/data-file/data-kinds.ts'
import type { EngineProgressListener } from '../../roles/resolution/engine/progress.ts'
import {
  buildRecords,
  createColumnFilter,
  findSeparator,
  getIdLimit,
  LensFault,
  type LensRecords,
  type RecordSource,
} from '../../roles/resolution/engine/records/records.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { readDataFile } from './data-file.ts'
import { withMadeIds } from './made-ids.ts'

/** How the files of records are read. */
export type RecordReading = {
  /** Format of the files, regardless of their endings. */
  readonly kind?: DataKind | undefined
  /** Character between values, instead of the usual one of the format. */
  readonly delimiter?: string | undefined
  /** Makes an id of each record that has none, from its content. */
  readonly makesIds?: boolean | undefined
}

/** Reads the records; each file is one source. Throws `OfflineCommandError` (1). */
export async function readLensRecords(
  lens: Lens,
  files: readonly string[],
  onProgress: EngineProgressListener,
  reading: RecordReading = {},
): Promise<LensRecords> {
  const sources = await readLensSources(lens, files, onProgress, reading)
  return convertLensFaults(() => buildRecords(lens, sources))
}

/** Reads the columns of the lens as they are in the files. Throws `OfflineCommandError` (1). */
export async function readLensSources(
  lens: Lens,
  files: readonly string[],
  onProgress: EngineProgressListener,
  { kind, delimiter, makesIds = false }: RecordReading = {},
): Promise<RecordSource[]> {
  const options = {
    kind,
    delimiter,
    id: getIdLimit(lens),
    onProgress: (done: number, total: number) => onProgress({ phase: 'read', done, total }),
  }
  const sources: RecordSource[] = []
  for (const file of files) {
    const source = await readDataFile(file, createColumnFilter(lens), options)
    refuseOtherSeparator(file, source.names)
    sources.push(makesIds ? withMadeIds(source, lens.id_field) : source)
  }
  return sources
}

/** Converts a `LensFault` of the engine, which the user must correct, to `OfflineCommandError` (1). */
export function convertLensFaults<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof LensFault) throw new OfflineCommandError(1, describeLensFault(error))
    throw error
  }
}

/** A remedy of the command, where it has one, instead of that for every reader. */
function describeLensFault({ fact, hint, message }: LensFault): string {
  return hint === undefined ? message : `${fact}: ${remedies[hint]}`
}

const remedies = {
  no_id_column: 'name the column with the ids by --id-field, or --make-ids',
  no_ids: 'fill them, or --make-ids',
} as const

/** Throws `OfflineCommandError` (1) for a file whose first line is one column that holds another separator. */
export function refuseOtherSeparator(file: string, names: readonly string[]): void {
  const character = findSeparator(names)
  if (character === undefined) return
  const remedy = character === '\t' ? 'add --data-format tsv' : `add --delimiter "${character}"`
  throw new OfflineCommandError(1, `${basename(file)} seems separated by ${JSON.stringify(character)}: ${remedy}`)
}
