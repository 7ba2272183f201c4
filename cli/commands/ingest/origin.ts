// Shows where a row of a landed dataset comes from: the run, the file and the line.
import { offline } from '../../../daemon/offline/offline.ts'
import { formatRowOrigin } from '../../format/row-origin.ts'
import { jsonOption } from '../../options/site-options.ts'
import { CommandFailure, command, InvalidParamError, type Param } from '../../program/command.ts'
import { integer, required, text } from '../../program/params.ts'
import { line_break, printResult } from '../../terminal/output.ts'

const max_row = 2_000_000_000

export const definition = command({
  words: 'ingest origin',
  summary: 'Show the file and the line that a row of a dataset comes from',
  notes: [
    'Names the row by its number, or by a value such as its id. A dataset of a run is followed over the datasets of the',
    'tasks before it, which are beside it, down to the line, the row of a sheet or the number of the record in a file,',
    'with the digest of that file. A row of a join has one row in each of both datasets; a row of an aggregation is made',
    'of many, so that the datasets and files alone are named. The files themselves are not read.',
  ].join('\n'),
  positionals: { dir: required(text('DIR', 'Folder of a landed dataset')) },
  options: {
    row: integer('N', 'Number of the row, from 1 (default: --where names rows)', 1, max_row),
    where: columnValue('COLUMN=VALUE', 'Rows with this value, 100 at most (default: --row names one)'),
    ...jsonOption,
  },
  example: 'platform ingest origin sales --where id=4711',
  async run({ dir, row, where, json }, terminal) {
    if ((row === undefined) === (where === undefined))
      throw new CommandFailure(
        2,
        'name the row either by --row or by --where',
        'for example --row 1, or --where id=4711',
      )
    const { findRowOrigins } = await offline.rowOrigins()
    const found = await findRowOrigins({ folder: dir, row, where })
    const more = found.has_more ? ['and more rows'] : []
    printResult(terminal, json, found, () =>
      [...found.rows.flatMap((each) => formatRowOrigin(each)), ...more].join(line_break),
    )
    return 0
  },
})

type ColumnValue = { readonly column: string; readonly value: string }

function columnValue(metavar: string, help: string): Param<ColumnValue | undefined> {
  const parse = (input: string): ColumnValue => {
    const at = input.indexOf('=')
    if (at < 1) throw new InvalidParamError('it must be a column and its value, such as id=4711')
    return { column: input.slice(0, at), value: input.slice(at + 1) }
  }
  return { isRequired: false, isRest: false, metavar, help, parse, defaultValue: undefined }
}
