// Options of the commands that read files of records: their format, their columns and their ids.

import { textEncodings } from '../../daemon/kernel/data/utf8-source.ts'
import { offline } from '../../daemon/offline/offline.ts'
import { InvalidParamError, type Param, type ParsedParams } from '../program/command.ts'
import { choice, decimal, flag, required, rest, text } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** As a lens may have. */
const max_threshold_bits = 1_000

/** Files with records. */
export const dataOption = {
  data: required(
    rest('FILE', 'Files with the records, folders of them, patterns such as "people/*.csv", or - for stdin'),
  ),
}

/** The lens, which nobody knows by heart. */
export const lensOption = {
  lens: {
    ...required(text('LENS', 'Lens file, or a shipped lens: persons, bibliography, products')),
    remedy:
      'name a shipped lens (persons, bibliography, products) or a lens file; `platform resolve lens init --data FILE --out lens.yaml` proposes one for your data',
  },
}

/** The same for a command that continues a run. */
export const runLensOption = {
  lens: {
    ...required(text('LENS', 'Lens of the run: a file, or a shipped lens')),
    remedy: 'name the lens of the run: its file, or a shipped lens (persons, bibliography, products)',
  },
}

/** How a file is read, where it is not to be found in it. */
export const fileFormatOptions = {
  dataFormat: choice('KIND', 'Format of the data files, regardless of their endings', [
    ...(['avro', 'csv', 'geojson', 'gpkg', 'image', 'json', 'jsonl', 'parquet', 'pdf', 'pdf-tables'] as const),
    ...(['shapefile', 'tiles', 'tsv', 'xls', 'xlsx', 'xml'] as const),
  ]),
  delimiter: delimiter(),
  encoding: choice('KIND', 'Encoding of text without a byte order mark; default: found in each file', textEncodings),
  pointer: text(
    'POINTER',
    'Records of a JSON document or of XML: their list, such as /data/items, or their elements (default: the only ones)',
  ),
  sheet: text(
    'NAME|N',
    'Sheet of a workbook (default: the first one) or layer of a GeoPackage (default: the only one), by name or number',
  ),
}

/** Options of the format. */
export const dataFormatOptions = {
  ...fileFormatOptions,
  skipBadRows: flag('Leave out rows that cannot be read, and report them (default: they end the command)'),
}

/** Options of the format, the columns and the ids. */
export const recordFileOptions = {
  columns: rest('FIELD=COLUMN', 'Column of a field, where the lens does not name it'),
  idField: rest(
    'COLUMN|FILE=COLUMN',
    'Column with the id of each record, or of those of one file (default: id_field of the lens)',
  ),
  makeIds: flag('Make an id from the content of each record that has none'),
  ...dataFormatOptions,
}

/** Names of the sources. */
export const sourceOption = {
  source: rest('NAME|NAME=FILE', 'Source of the records of a file (default: the name of the file)'),
}

/** The cut of a lens. A registry stays with the cut that it was made with. */
export const thresholdOption = {
  threshold: decimal(
    'BITS',
    'Weight of evidence from which two records are one (default: of the lens, or from the data)',
    -max_threshold_bits,
    max_threshold_bits,
  ),
}

type RecordFileParams = ParsedParams<typeof recordFileOptions> & {
  readonly data: readonly string[]
  readonly source?: readonly string[]
  readonly threshold?: number | undefined
}

/** Finds the files of records, what the command states instead of the lens, and how they are read. Remarks about them go to stderr. */
export async function planRecordReading(params: RecordFileParams, terminal: Terminal) {
  const { data, source = [], columns, idField, makeIds, threshold } = params
  const [{ assignSourceNames }, { assignIdColumns }] = await Promise.all([offline.sourceNames(), offline.idColumns()])
  const files = await findRecordFiles(data, terminal)
  const sources = assignSourceNames(files, source)
  const { id_field, byFile: idColumns } = assignIdColumns(files, idField, sources)
  const namedColumns = columns.map((assignment) => assignment.slice(assignment.indexOf('=') + 1))
  const reading = { ...toFormatReading(params, terminal), makesIds: makeIds, namedColumns, idColumns, sources }
  return { files, columns: { columns, id_field, threshold }, reading }
}

/** How the format of files is read. */
export function toFormatReading(
  { dataFormat, delimiter, encoding, pointer, sheet, skipBadRows }: ParsedParams<typeof dataFormatOptions>,
  terminal: Terminal,
) {
  const standardInput = () => terminal.inputBytes()
  const onRemark = (remark: string) => remarkFile(remark, terminal)
  return { kind: dataFormat, delimiter, encoding, pointer, sheet, skipsBadRows: skipBadRows, standardInput, onRemark }
}

/** The files that the words of `--data` name. What a folder has besides goes to stderr. */
export async function findRecordFiles(words: readonly string[], terminal: Terminal): Promise<string[]> {
  const { findDataFiles } = await offline.dataInputs()
  return findDataFiles(words, (remark) => remarkFile(remark, terminal))
}

function remarkFile(remark: string, terminal: Terminal): void {
  terminal.progress('')
  terminal.note(remark)
}

function delimiter(): Param<string | undefined> {
  const help =
    'Character between the values of a line, such as ";" or "|" (default: found in each file; a tab in .tsv and .tab)'
  const parse = (input: string) => {
    if (!/^[\t\x21-\x7e]$/.test(input) || /[A-Za-z0-9"]/.test(input))
      throw new InvalidParamError('it must be one character, and not a letter, a digit, a space or a quotation mark')
    return input
  }
  return { ...text('CHAR', help), parse }
}
