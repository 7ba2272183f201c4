// Reads records from a data file in chunks, of any size, encoding and dialect, for every command that takes data.
import { type DataFile, openDataFile } from '../../../adapters/platform/data-file/data-file.ts'
import {
  type DataFormat,
  type DataKind,
  inferDataKind,
  placeUnitOf,
} from '../../../adapters/platform/data-file/data-kinds.ts'
import { describeDataFault } from '../../../adapters/platform/data-file/describe-data-fault.ts'
import { detectDataFormat } from '../../../adapters/platform/data-file/detect-data-format.ts'
import { isLandedFolder, openLandedFolder } from '../../../adapters/platform/data-file/landed-folder.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import type { DataBlock } from '../../kernel/data/data-block.ts'
import type { RejectedRecord } from '../../kernel/data/data-fault.ts'
import type { TextEncodingName } from '../../kernel/data/utf8-source.ts'
import { keepRecords } from '../../roles/resolution/engine/records/leave-out-records.ts'
import type { ColumnMatch, ColumnMatcher } from '../../roles/resolution/engine/records/match-columns.ts'
import { findSeparator, type IdLimit, type RecordSource } from '../../roles/resolution/engine/records/records.ts'
import { openRecordBlocks, type RecordReadOptions, readRecords } from '../../runtime/resolution/files/read-records.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { BadRowCollector, badRowError, type FileBadRows } from './reading/bad-rows.ts'
import { type FileReading, toFileReading } from './reading/file-reading.ts'
import type { FileVersions } from './reading/file-versions.ts'
import { findIdFaults } from './reading/id-faults.ts'
import { locateIdFaults } from './reading/locate-id-faults.ts'
import { matchSourceColumns } from './reading/match-source-columns.ts'
import { nameFile, nameSource, type SourceNames, standard_input } from './reading/source-names.ts'
import { openStandardInput, type StandardInput } from './reading/standard-input.ts'

/** How files are read; what is not stated is found in each file. */
export type FileFormatOptions = {
  /** Format of the file, regardless of its ending. */
  readonly kind?: DataKind | undefined
  /** Character between values. */
  readonly delimiter?: string | undefined
  /** Encoding of text without a byte order mark. */
  readonly encoding?: TextEncodingName | undefined
  /** Name of a sheet, or its number from 1. */
  readonly sheet?: string | undefined
  /** JSON pointer to the list of records of a JSON document. */
  readonly pointer?: string | undefined
}

/** Where the bytes come from. */
export type FileInput = {
  /** What `-` is in place of a file. */
  readonly standardInput?: StandardInput | undefined
  /** Refuses a file that changed between two openings. */
  readonly versions?: FileVersions | undefined
  /** Names of sources that differ from those of their files. */
  readonly sources?: SourceNames | undefined
}

export type FileInputOptions = FileFormatOptions & FileInput

export type DataFileOptions = FileInputOptions & {
  /** The id column, if there is one. */
  readonly id?: IdLimit | undefined
  /** Whether records need ids of their own: `made` where one without an id gets one. */
  readonly ids?: 'required' | 'made' | undefined
  /** Finds columns whose names differ from the wanted ones by their spelling. */
  readonly matcher?: ColumnMatcher | undefined
  /** Reads cells that a result of a run disarmed as the texts that they stand for: records, whose texts are compared. */
  readonly restoresFormulas?: boolean | undefined
  /** Receives the bytes read and the size of the file. Reading ends if it throws. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

/** A source whose bad rows are left out. */
export type ReadSource = RecordSource & {
  readonly reading: FileReading
  readonly bad: FileBadRows
  /** Whether a record has no id, and needs one. */
  readonly lacksIds: boolean
  /** Whether a record has the id of an earlier one. */
  readonly repeatsIds: boolean
  readonly origin: RecordOrigin
  /** Columns that have another name than in the file. */
  readonly matched: readonly ColumnMatch[]
}

/** How to read the records of a source once more. */
export type RecordOrigin = {
  readonly file: string
  /** How it was read first, which decides the rows that can be read. */
  readonly reading: RecordReadOptions
  /** All columns, as the file names them. */
  readonly names: readonly string[]
  /** Whether the record of a row that can be read is one of the source; absent where all are. */
  readonly isKept?: ((row: number) => boolean) | undefined
}

/**
 * Reads the selected columns. The ending of the file selects its format; the default is text with columns. Throws
 * `OfflineCommandError` (1) with the fault and its line, and for bad rows with the first of them.
 */
export async function readDataFile(
  file: string,
  isWanted: (name: string) => boolean,
  options: DataFileOptions = {},
): Promise<ReadSource> {
  const source = await readGoodRows(file, isWanted, options)
  if (source.bad.count > 0) throw badRowError([source.bad], undefined)
  return source
}

/** The same, but counts bad rows and leaves them out. */
export async function readGoodRows(
  file: string,
  isWanted: (name: string) => boolean,
  { id, ids, matcher, restoresFormulas = false, onProgress = () => undefined, ...stated }: DataFileOptions,
): Promise<ReadSource> {
  const readSource = async (openFile: DataFile): Promise<ReadSource> => {
    const { format, remarks } = await detectFormat(openFile, file, stated, () => onProgress(0, openFile.size))
    const bad = new BadRowCollector()
    const onReject = ({ reason, place }: RejectedRecord) => bad.add({ place: place.line, reason })
    const isRead = matcher ? matcher.isWanted : isWanted
    const isId = matcher?.isId
    const reading: RecordReadOptions = { ...format, isWanted: isRead, id, isId, restoresFormulas, onReject, onProgress }
    const read = await readRecords(openFile, reading)
    const { content, matched } = matcher
      ? matchSourceColumns(nameFile(file), read, matcher, isWanted)
      : { content: read, matched: [] }
    const faults = id && ids && findIdFaults(content, id.name, ids === 'made')
    const unit = placeUnitOf(format.kind)
    if (faults) bad.merge(faults.count, await locateIdFaults(openFile, reading, { unit, id_field: id.name, faults }))
    const good = faults ? keepRecords(content, faults.good()) : content
    return {
      name: nameSource(file, stated.sources),
      ...good,
      reading: toFileReading(format, remarks, good.rows, bad, matched),
      bad: { file: nameFile(file), unit, count: bad.count, first: bad.first },
      lacksIds: faults?.isMissing === true,
      repeatsIds: faults?.isRepeated === true,
      origin: { file, reading, names: content.names, isKept: faults?.isGood },
      matched,
    }
  }
  return await withDataFile(file, readSource, stated, () => onProgress(0, 0))
}

/** Finds how the file is to be read. `onRead` is called before each read. */
export async function detectFormat(
  openFile: DataFile,
  file: string,
  { kind = detectDataKind(file), delimiter, encoding, sheet, pointer }: FileFormatOptions,
  onRead: () => void,
): Promise<{ readonly format: DataFormat; readonly remarks: readonly string[] }> {
  if ('parts' in openFile) return { format: { kind: 'dataset' }, remarks: [] }
  return await detectDataFormat(openFile, { kind, delimiter, encoding, sheet, pointer }, onRead)
}

/** Reads the same rows of a source once more, with all of their columns. Throws `OfflineCommandError` (1) with the fault. */
export async function* readOriginBlocks(
  { file, reading: first }: RecordOrigin,
  input: FileInput,
  onProgress: (done: number, total: number) => void,
): AsyncGenerator<DataBlock> {
  try {
    const openFile = await openInput(file, input, () => onProgress(0, 0))
    try {
      const isOptional = (name: string) => !first.isWanted(name)
      const reading = { ...first, isWanted: () => true, isOptional, onReject: () => undefined, onProgress }
      yield* await openRecordBlocks(openFile, reading)
      openFile.checkUnchanged()
    } finally {
      openFile.close()
    }
  } catch (error) {
    throw describeFileError(file, error)
  }
}

/**
 * Opens the file or, where it is given, standard input; runs `read`, and checks that the file did not change. `onRead` is called
 * while standard input is read. Throws `OfflineCommandError` (1) with the fault.
 */
export async function withDataFile<T>(
  file: string,
  read: (openFile: DataFile) => T | Promise<T>,
  input: FileInput = {},
  onRead: () => void = () => undefined,
): Promise<T> {
  try {
    const openFile = await openInput(file, input, onRead)
    try {
      const result = await read(openFile)
      openFile.checkUnchanged()
      return result
    } finally {
      openFile.close()
    }
  } catch (error) {
    throw describeFileError(file, error)
  }
}

async function openInput(file: string, { standardInput, versions }: FileInput, onRead: () => void): Promise<DataFile> {
  const isInput = file === standard_input && standardInput !== undefined
  const openFile = isInput ? await openStandardInput(standardInput, onRead) : runAsInvoker(() => openNamedFile(file))
  versions?.require(file, openFile)
  return openFile
}

function openNamedFile(file: string): DataFile {
  return isLandedFolder(file) ? openLandedFolder(file) : openDataFile(file)
}

function describeFileError(file: string, error: unknown): unknown {
  const fault = describeDataFault(error)
  return fault ? new OfflineCommandError(1, `${nameFile(file)}${fault.text}`, fault.remedy) : error
}

/** For a file besides the data, which is read as comma-separated values unless its ending says otherwise. */
export function missingColumns(
  file: string,
  missing: readonly string[],
  names: readonly string[],
): OfflineCommandError {
  const separator = findSeparator(names)
  const remedy =
    separator &&
    `it seems separated by ${JSON.stringify(separator)}: separate its values by commas, or by tabs in a .tsv`
  return new OfflineCommandError(1, `${file} has no column ${missing.join(', ')}; it has ${names.join(', ')}`, remedy)
}

/** The format by the ending of the name (default: comma-separated values). */
function detectDataKind(file: string): DataKind {
  return inferDataKind(file) ?? 'csv'
}
