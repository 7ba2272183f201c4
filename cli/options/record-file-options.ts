// Options of the commands that read files of records: their format, their columns and their ids.
import { InvalidParamError, type Param, type ParsedParams } from '../program/command.ts'
import { choice, flag, rest, text } from '../program/params.ts'

/** Options of the format. */
export const dataFormatOptions = {
  dataFormat: choice('KIND', 'Format of the data files, regardless of their endings', [
    ...(['csv', 'jsonl', 'parquet', 'tsv'] as const),
  ]),
  delimiter: delimiter(),
}

/** Options of the format, the columns and the ids. */
export const recordFileOptions = {
  columns: rest('FIELD=COLUMN', 'Column of a field, where the lens does not name it'),
  idField: text('COLUMN', 'Column with the id of each record (default: id_field of the lens)'),
  makeIds: flag('Make an id from the content of each record that has none'),
  ...dataFormatOptions,
}

type RecordFileParams = ParsedParams<typeof recordFileOptions>

/** How the files are read. */
export function toRecordReading({ dataFormat, delimiter, makeIds }: Omit<RecordFileParams, 'columns' | 'idField'>) {
  return { kind: dataFormat, delimiter, makesIds: makeIds }
}

export function toLensColumns({ columns, idField }: Pick<RecordFileParams, 'columns' | 'idField'>) {
  return { columns, id_field: idField }
}

function delimiter(): Param<string | undefined> {
  const help = 'Character between the values of a line, such as ";" or "|" (default: a comma; a tab in .tsv and .tab)'
  const parse = (input: string) => {
    if (!/^[\t\x21-\x7e]$/.test(input) || /[A-Za-z0-9"]/.test(input))
      throw new InvalidParamError('it must be one character, and not a letter, a digit, a space or a quotation mark')
    return input
  }
  return { ...text('CHAR', help), parse }
}
