// The kinds of data files: the one table by which every role and command reads and writes them.
import { extname } from 'node:path'
import { csvDialect } from '../../../daemon/kernel/data/csv-dialect.ts'
import type { DataBlocks } from '../../../daemon/kernel/data/data-block.ts'
import type { DataWriterFactory } from '../../../daemon/kernel/data/data-writer.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'
import type { TextEncodingName } from '../../../daemon/kernel/data/utf8-source.ts'
import { binaryReaders, list_separator } from './binary-readers.ts'
import type { DataFile } from './data-file.ts'
import type { LandedFolder } from './landed-folder.ts'
import { findXmlEncoding, findXmlPath } from './xml-format.ts'

/** Kinds that are written as well. */
export const resultKinds = ['csv', 'jsonl', 'parquet'] as const
export type ResultKind = (typeof resultKinds)[number]
/** `tiles`: the index of the tiles of an image. `pdf`: the lines of a document; `pdf-tables`: the rows of its tables. `dataset`: a folder that was landed; no file is one. */
export type DataKind =
  | ResultKind
  | 'tsv'
  | 'json'
  | 'geojson'
  | 'xml'
  | 'avro'
  | 'xls'
  | 'xlsx'
  | 'gpkg'
  | 'shapefile'
  | 'image'
  | 'tiles'
  | 'pdf'
  | 'pdf-tables'
  | 'dataset'

/** A place of `line` 7 is the seventh line, of `row` the row 7 of a sheet, of `record` the seventh record. */
export type PlaceUnit = 'line' | 'row' | 'record'

export type DataFormat = {
  readonly kind: DataKind
  /** Of text with columns, instead of the usual one of its kind. */
  readonly delimiter?: string | undefined
  /** Of text with columns; empty where nothing encloses a value. */
  readonly quote?: string | undefined
  readonly escape?: string | undefined
  /** Of text without a byte order mark (default: UTF-8). */
  readonly encoding?: TextEncodingName | undefined
  /** Whether the text has one column, so that its delimiter is one that it does not have. */
  readonly isSingleColumn?: boolean
  /** Of a JSON document: JSON pointer to the list of records (default: the document itself). Of XML: path of the elements that are records. */
  readonly pointer?: string | undefined
  /** Of a workbook: the name of a sheet, or its number from 1. Of a GeoPackage: that of a layer. */
  readonly sheet?: string | undefined
  /** Of geometries: their reference system, as it was found (absent: longitude and latitude of WGS 84, or unknown). */
  readonly srs?: string | undefined
  /** Of a file that lands as it is, beside the rows about it: the ending of its content. */
  readonly ending?: string | undefined
}

type BlockOpener = (
  file: DataFile,
  options: DataReadOptions,
  onRead: (read_bytes: number) => void,
  format: DataFormat,
) => Promise<DataBlocks>

function delimitedBy(usual: string): BlockOpener {
  return async (file, options, onRead, { delimiter = usual, quote, escape: escapeMark, encoding }) => {
    const { readCsv } = await import('../../format/csv/read-csv.ts')
    const dialect = csvDialect.parse({ delimiter, quote, escape: escapeMark, encoding })
    return readCsv(file.text(onRead), dialect, options)
  }
}

export type DataReader = {
  readonly extensions: readonly string[]
  /** Unit of the places of bad records: lines of the file (default), rows of a sheet, or records. */
  readonly place?: PlaceUnit
  /** Whether values may be lists and objects, which have no text but JSON. */
  readonly hasObjects?: boolean
  /** Whether values may be as long as a record, such as geometries. */
  readonly hasLongValues?: boolean
  /** Whether files are images or documents, which are usually beside data and not data. */
  readonly isMedia?: boolean
  readonly open: BlockOpener
}

/** Formats are loaded when a file of them is read or written. */
const readers: Readonly<Record<DataKind, DataReader>> = {
  csv: {
    extensions: ['.csv'],
    open: delimitedBy(','),
  },
  tsv: {
    extensions: ['.tsv', '.tab'],
    open: delimitedBy('\t'),
  },
  jsonl: {
    extensions: ['.jsonl', '.ndjson'],
    hasObjects: true,
    async open(file, options, onRead, { encoding }) {
      const { readJsonLines } = await import('../../format/json-lines/read-json-lines.ts')
      return readJsonLines(file.text(onRead), list_separator, options, encoding)
    },
  },
  json: {
    extensions: ['.json'],
    place: 'record',
    hasObjects: true,
    async open(file, options, onRead, { encoding, pointer = '' }) {
      const { readJson } = await import('../../format/json-lines/read-json.ts')
      return readJson(file.text(onRead), pointer, list_separator, options, encoding)
    },
  },
  geojson: {
    extensions: ['.geojson'],
    place: 'record',
    hasObjects: true,
    async open(file, options, onRead) {
      const { readGeoJson } = await import('../../format/json-lines/read-json.ts')
      return readGeoJson(file.text(onRead), list_separator, options)
    },
  },
  xml: {
    extensions: ['.xml'],
    place: 'record',
    hasObjects: true,
    async open(file, options, onRead, stated) {
      const { readXml } = await import('../../format/xml/read-xml.ts')
      const encoding = stated.encoding ?? (await findXmlEncoding(file)) ?? 'utf-8'
      const path = stated.pointer ?? (await findXmlPath(file, encoding))
      return readXml(file.text(onRead), path, list_separator, options, encoding)
    },
  },
  ...binaryReaders,
  dataset: {
    extensions: [],
    place: 'record',
    async open(file, options, onRead) {
      const { readParquet } = await import('../../format/parquet/read-parquet.ts')
      return readParts(
        file as LandedFolder,
        (part, onPart) => readParquet(part, list_separator, options, onPart),
        onRead,
      )
    },
  },
}

/** Reads the parts one after the other. `onRead` receives bytes of the dataset. */
async function* readParts(
  { size, parts }: LandedFolder,
  read: (part: DataFile, onRead: (read_bytes: number) => void) => DataBlocks,
  onRead: (read_bytes: number) => void,
): DataBlocks {
  let before = size - parts.reduce((sum, part) => sum + part.size, 0)
  for (const part of parts) {
    const first = before
    yield* read(part, (read_bytes) => onRead(first + read_bytes))
    before += part.size
  }
}

const writers: Readonly<Record<ResultKind, () => Promise<DataWriterFactory>>> = {
  csv: async () => (await import('../../format/csv/write-csv.ts')).writeCsv,
  jsonl: async () => (await import('../../format/json-lines/write-json-lines.ts')).writeJsonLines,
  parquet: async () => (await import('../../format/parquet/write-parquet.ts')).writeParquet,
}

/** The unit of the places of bad records. */
export function placeUnitOf(kind: DataKind): PlaceUnit {
  return readers[kind].place ?? 'line'
}

/** Whether values may be lists and objects: their columns are optional where JSON is wanted as the text of those. */
export function hasObjects(kind: DataKind): boolean {
  return readers[kind].hasObjects === true
}

export function hasLongValues(kind: DataKind): boolean {
  return readers[kind].hasLongValues === true
}

export function isMedia(kind: DataKind): boolean {
  return readers[kind].isMedia === true
}

/** File name extensions of every kind. */
export const readableExtensions = Object.values(readers).flatMap(({ extensions }) => extensions)

/** Infers the kind from the extension; undefined for an unknown one. */
export function inferDataKind(file: string): DataKind | undefined {
  const extension = extname(file).toLowerCase()
  return (Object.keys(readers) as DataKind[]).find((kind) => readers[kind].extensions.includes(extension))
}

/**
 * Returns the blocks of the file. Reading them throws faults that `describeDataFault` describes, and what `onProgress` throws.
 * `onProgress` receives the bytes read so far and in total.
 */
export async function openBlocks(
  file: DataFile,
  format: DataFormat,
  options: DataReadOptions,
  onProgress: (done: number, total: number) => void,
): Promise<DataBlocks> {
  return await readers[format.kind].open(file, options, (done) => onProgress(done, file.size), format)
}

export async function loadDataWriter(kind: ResultKind): Promise<DataWriterFactory> {
  return await writers[kind]()
}
