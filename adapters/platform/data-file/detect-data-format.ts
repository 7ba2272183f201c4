// Finds how a data file is to be read: the encoding of its text, and the delimiter and quotation marks of its columns.

import { type ByteSource, fillBuffer } from '../../../daemon/kernel/data/byte-source.ts'
import {
  encodingLabels,
  findByteOrderMark,
  openUtf8,
  type TextEncodingName,
} from '../../../daemon/kernel/data/utf8-source.ts'
import type { DetectedDialect } from '../../format/csv/detect-dialect.ts'
import { type DataFile, DataFileError } from './data-file.ts'
import type { DataFormat, DataKind } from './data-kinds.ts'
import { detectEncoding } from './detect-encoding.ts'
import { chooseLayer, examineShapefile } from './vector-format.ts'
import { findXmlEncoding, findXmlPath } from './xml-format.ts'

export type DetectedFormat = {
  readonly format: DataFormat
  /** Unusual properties of the file, for the person who named it. */
  readonly remarks: readonly string[]
}

/** Bytes of the beginning by which the dialect is found. */
const sample_bytes = 262_144
/** Kinds of which nothing has to be found. */
const kindsAsTheyAre: ReadonlySet<DataKind> = new Set([
  'avro',
  'dataset',
  'geojson',
  'parquet',
  'pdf',
  'pdf-tables',
  'tiles',
])
const longest_mark_bytes = 3
const max_named_sheets = 5

const delimiterNames: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'bars',
}

/** Detects the format; properties that the caller states are kept. Throws `DataFileError`, and what `onRead` throws. */
export async function detectDataFormat(
  file: DataFile,
  stated: DataFormat,
  onRead: (read_bytes: number) => void,
): Promise<DetectedFormat> {
  if (kindsAsTheyAre.has(stated.kind)) return { format: stated, remarks: [] }
  if (stated.kind === 'xls' || stated.kind === 'xlsx') return await chooseSheet(file, stated)
  if (stated.kind === 'gpkg') return await chooseLayer(file, stated)
  if (stated.kind === 'shapefile') return await examineShapefile(file, stated, onRead)
  if (stated.kind === 'image') return await examineImage(file, stated)
  if (stated.kind === 'xml') return await chooseElements(file, stated, onRead)
  const { encoding, remark } = await findEncoding(file, stated.encoding, onRead)
  const remarks = remark === undefined ? [] : [remark]
  if (stated.kind === 'jsonl') return { format: { ...stated, encoding }, remarks }
  if (stated.kind === 'json') return await chooseList(file, { ...stated, encoding }, remarks)
  const usual = stated.kind === 'tsv' ? '\t' : ','
  const dialect = await findDialect(file, encoding, stated.delimiter ?? (usual === '\t' ? usual : undefined))
  const { delimiter, quote, escape: escapeMark } = dialect
  return {
    format: {
      kind: stated.kind,
      encoding,
      delimiter,
      quote,
      escape: escapeMark,
      isSingleColumn: dialect.isSingleColumn,
    },
    remarks: [...remarks, ...(stated.delimiter === undefined ? describeDialect(dialect, usual) : [])],
  }
}

async function chooseSheet(file: DataFile, stated: DataFormat): Promise<DetectedFormat> {
  const { names, first } = await listSheetsOf(file, stated.kind)
  if (stated.sheet !== undefined) {
    const isName = names.includes(stated.sheet)
    return {
      format: { ...stated, sheet: isName ? stated.sheet : (names[Number(stated.sheet) - 1] ?? stated.sheet) },
      remarks: [],
    }
  }
  const format = { ...stated, sheet: first }
  if (names.length === 1) return { format, remarks: [] }
  const others = names.filter((name) => name !== first).map((name) => JSON.stringify(name))
  const named = others.slice(0, max_named_sheets).join(', ')
  const rest = others.length > max_named_sheets ? ` and ${others.length - max_named_sheets} more` : ''
  return { format, remarks: [`its sheet ${JSON.stringify(first)}, and not ${named}${rest} (--sheet states another)`] }
}

async function listSheetsOf(file: DataFile, kind: DataKind) {
  if (kind === 'xls') return (await import('../../format/xls/read-xls.ts')).listXlsSheets(file)
  return await (await import('../../format/xlsx/read-xlsx.ts')).listSheets(file)
}

/** Throws `DataFault` where the file is not an image. */
async function examineImage(file: DataFile, stated: DataFormat): Promise<DetectedFormat> {
  const { detectImageFormat, imageExtensions } = await import('../../format/image/read-images.ts')
  return { format: { ...stated, ending: imageExtensions[detectImageFormat(file)] }, remarks: [] }
}

async function chooseList(file: DataFile, stated: DataFormat, remarks: readonly string[]): Promise<DetectedFormat> {
  if (stated.pointer !== undefined) return { format: stated, remarks }
  const { findLists } = await import('../../format/json-lines/read-json.ts')
  const text = file.text(() => undefined)
  const { isLines, pointers } = await findLists(await openUtf8(text, stated.encoding ?? 'utf-8'))
  if (isLines) return { format: { ...stated, kind: 'jsonl' }, remarks: [...remarks, 'JSON lines'] }
  const [pointer, another] = pointers
  if (pointer === undefined)
    throw new DataFileError('has no list of objects', 'write the records as a list: [{"id": 1}, {"id": 2}]')
  if (another !== undefined)
    throw new DataFileError(`has several lists of objects: ${pointers.join(', ')}`, 'name one: `--pointer /…`')
  const found = pointer === '' ? [] : [`the list at ${pointer}`]
  return { format: { ...stated, pointer }, remarks: [...remarks, ...found] }
}

async function chooseElements(
  file: DataFile,
  stated: DataFormat,
  onRead: (read_bytes: number) => void,
): Promise<DetectedFormat> {
  const { encoding, remark } = await findEncoding(file, stated.encoding ?? (await findXmlEncoding(file)), onRead)
  const remarks = remark === undefined ? [] : [remark]
  if (stated.pointer !== undefined) return { format: { ...stated, encoding }, remarks }
  const pointer = await findXmlPath(file, encoding)
  return { format: { ...stated, encoding, pointer }, remarks: [...remarks, `the elements at ${pointer}`] }
}

async function findEncoding(
  file: DataFile,
  stated: TextEncodingName | undefined,
  onRead: (read_bytes: number) => void,
): Promise<{ readonly encoding: TextEncodingName; readonly remark?: string }> {
  if (stated !== undefined) return await keepEncoding(file.text(onRead), stated)
  const { encoding, hasMark, odd_count } = await detectEncoding(() => file.text(onRead))
  const label = encodingLabels[encoding]
  if (encoding === 'utf-8')
    return odd_count === 0 ? { encoding } : { encoding, remark: `${label}, with ${odd_count} bytes that are not` }
  const mixed = odd_count === 0 ? '' : `, with ${odd_count} letters that look like UTF-8`
  return { encoding, remark: `${label}${hasMark ? '' : ' (--encoding states another)'}${mixed}` }
}

async function keepEncoding(source: ByteSource, stated: TextEncodingName) {
  const first = new Uint8Array(longest_mark_bytes)
  const mark = findByteOrderMark(first.subarray(0, await fillBuffer(source, first, 0)))
  if (!mark || mark.encoding === stated) return { encoding: stated }
  const [found, other] = [encodingLabels[mark.encoding], encodingLabels[stated]]
  return { encoding: mark.encoding, remark: `${found}, as its byte order mark states, and not ${other}` }
}

async function findDialect(
  file: DataFile,
  encoding: TextEncodingName,
  delimiter: string | undefined,
): Promise<DetectedDialect> {
  const { detectDialect } = await import('../../format/csv/detect-dialect.ts')
  const source = await openUtf8(
    file.text(() => undefined),
    encoding,
  )
  const sample = new Uint8Array(sample_bytes)
  const end = await fillBuffer(source, sample, 0)
  return detectDialect(sample.subarray(0, end), end < sample.length, delimiter)
}

function describeDialect(dialect: DetectedDialect, usual: string): string[] {
  const { delimiter, quote, escape: escapeMark, isSingleColumn, unnamed_values, rivals } = dialect
  const remarks: string[] = []
  if (isSingleColumn) remarks.push('one column')
  else if (delimiter !== usual) remarks.push(`values between ${nameDelimiter(delimiter)}`)
  if (quote === '') remarks.push('no quotation marks')
  else if (quote !== '"') remarks.push(`values in ${quote}`)
  else if (escapeMark !== quote) remarks.push('quotation marks escaped by \\')
  if (unnamed_values > 0)
    remarks.push(`one name and ${unnamed_values} values (of one column: --delimiter with a character that it lacks)`)
  for (const { delimiter: rival, columns } of rivals)
    remarks.push(`${nameDelimiter(rival)} give ${columns} columns as well (--delimiter states one)`)
  return remarks
}

function nameDelimiter(delimiter: string): string {
  return delimiterNames[delimiter] ?? JSON.stringify(delimiter)
}
