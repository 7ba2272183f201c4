// Reads the records of files through a lens, and reports faults of lens and data as errors of the command.
import type { EngineProgressListener } from '../../roles/resolution/engine/progress.ts'
import { createColumnMatcher } from '../../roles/resolution/engine/records/match-columns.ts'
import {
  buildRecords,
  createColumnFilter,
  findSeparator,
  getIdLimit,
  LensFault,
  type LensRecords,
} from '../../roles/resolution/engine/records/records.ts'
import type { Lens } from '../../roles/resolution/lens/model.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type FileInputOptions, type ReadSource, type RecordOrigin, readGoodRows } from './data-file.ts'
import { withMadeIds } from './made-ids.ts'
import { badRowError, describeBadRows } from './reading/bad-rows.ts'
import type { FileReading } from './reading/file-reading.ts'
import { type IdColumnsByFile, requireIdColumn } from './reading/id-columns.ts'
import { describeMatches } from './reading/match-source-columns.ts'
import { requireColumns } from './reading/require-columns.ts'
import { nameSource, refuseDuplicateSources } from './reading/source-names.ts'
import { findUnreadColumns } from './reading/unread-columns.ts'

/** How the files of records are read. */
export type RecordReading = FileInputOptions & {
  /** Makes an id of each record that has none, from its content. */
  readonly makesIds?: boolean | undefined
  /** Columns that a person assigned to fields, of which each must be in a file, in whatever spelling. */
  readonly namedColumns?: readonly string[] | undefined
  /** Columns with the ids that a person named for single files. */
  readonly idColumns?: IdColumnsByFile | undefined
  /** Leaves bad rows out; otherwise they end the command. */
  readonly skipsBadRows?: boolean | undefined
  /** Receives what is unusual about a file, and the rows of it that were left out. */
  readonly onRemark?: ((remark: string) => void) | undefined
}

/** The records, and for each source how its file was read. */
export type FileRecords = LensRecords & {
  readonly readings: readonly FileReading[]
  readonly origins: readonly RecordOrigin[]
}

/** Reads the records; each file is one source. Throws `OfflineCommandError` (1), for bad rows with the first of all files. */
export async function readLensRecords(
  lens: Lens,
  files: readonly string[],
  onProgress: EngineProgressListener,
  reading: RecordReading = {},
): Promise<FileRecords> {
  refuseDuplicateSources(files.map((file) => nameSource(file, reading.sources)))
  const sources = await readLensSources(lens, files, onProgress, reading)
  const records = convertLensFaults(() => buildRecords(lens, sources))
  return {
    ...records,
    readings: sources.map(({ reading }) => reading),
    origins: sources.map(({ origin }) => origin),
  }
}

/** Reads the columns of the lens as they are in the files, without bad rows. Throws `OfflineCommandError` (1). */
export async function readLensSources(
  lens: Lens,
  files: readonly string[],
  onProgress: EngineProgressListener,
  reading: RecordReading = {},
): Promise<ReadSource[]> {
  const { makesIds = false, namedColumns = [], skipsBadRows = false, onRemark } = reading
  const sources: ReadSource[] = []
  for (const file of files) sources.push(await readLensSource(lens, file, onProgress, reading))
  requireColumns(lens, sources, namedColumns)
  handleBadRows(sources, skipsBadRows, onRemark)
  if (!makesIds) return sources
  return sources.map((source) => ({ ...source, ...withMadeIds(source, source.id_field ?? lens.id_field) }))
}

async function readLensSource(
  lens: Lens,
  file: string,
  onProgress: EngineProgressListener,
  { makesIds = false, namedColumns = [], idColumns, onRemark, ...format }: RecordReading,
): Promise<ReadSource> {
  const id_field = idColumns?.get(file)
  const fileLens = id_field === undefined ? lens : { ...lens, id_field }
  const source = await readGoodRows(file, createColumnFilter(fileLens), {
    ...format,
    id: getIdLimit(fileLens),
    matcher: createColumnMatcher(fileLens, namedColumns),
    ids: makesIds ? 'made' : 'required',
    restoresFormulas: true,
    onProgress: (done: number, total: number) => onProgress({ phase: 'read', done, total }),
  })
  refuseOtherSeparator(file, source.names)
  if (id_field !== undefined) requireIdColumn(file, id_field, source, format.sources)
  remarkReading(source, onRemark)
  if (source.matched.length > 0)
    onRemark?.(`${source.name} has columns of the lens in another spelling: ${describeMatches(source.matched)}`)
  const not_compared = findUnreadColumns(fileLens, source)
  return { ...source, id_field, ...(not_compared && { reading: { ...source.reading, not_compared } }) }
}

/** Reports what is unusual about a file. */
export function remarkReading(
  { name, reading: { remarks } }: Pick<ReadSource, 'name' | 'reading'>,
  onRemark: RecordReading['onRemark'],
): void {
  if (remarks.length > 0) onRemark?.(`${name} was read as ${remarks.join('; ')}`)
}

/** Reports bad rows that are left out. Throws `OfflineCommandError` (1) where they are not, and where a file has no other rows. */
export function handleBadRows(
  sources: readonly Pick<ReadSource, 'bad' | 'lacksIds' | 'repeatsIds' | 'rows'>[],
  skipsBadRows: boolean,
  onRemark: RecordReading['onRemark'],
): void {
  const faulty = sources.filter(({ bad }) => bad.count > 0)
  if (faulty.length === 0) return
  const bad = faulty.map((source) => source.bad)
  if (!skipsBadRows) {
    const fill = faulty.some(({ lacksIds }) => lacksIds) ? 'fill the ids, or --make-ids; ' : ''
    const correct = faulty.some(({ repeatsIds }) => repeatsIds)
      ? 'correct the repeated ids, or name another column (--id-field); '
      : ''
    throw badRowError(bad, `${fill}${correct}--skip-bad-rows leaves bad rows out`)
  }
  const lost = faulty.find(({ rows }) => rows === 0)
  if (lost) throw badRowError([lost.bad], 'no row is left: state how the file is read (--delimiter, --encoding)')
  for (const each of bad) onRemark?.(describeBadRows(each))
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
  no_id_column:
    'name the column with the ids by --id-field COLUMN, that of one file by --id-field FILE=COLUMN, or --make-ids',
  no_ids: 'fill them, or --make-ids',
} as const

/** Throws `OfflineCommandError` (1) for a file whose first line is one column that holds another separator. */
export function refuseOtherSeparator(file: string, names: readonly string[]): void {
  const character = findSeparator(names)
  if (character === undefined) return
  const remedy = character === '\t' ? 'add --data-format tsv' : `add --delimiter "${character}"`
  throw new OfflineCommandError(1, `${nameSource(file)} seems separated by ${JSON.stringify(character)}: ${remedy}`)
}
