// Profiles data that no lens describes yet, and proposes a lens for it.
import { offline } from '../../../../daemon/offline/offline.ts'
import {
  dataFormatOptions,
  dataOption,
  findRecordFiles,
  toFormatReading,
} from '../../../options/record-file-options.ts'
import { jsonOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { text } from '../../../program/params.ts'
import { formatTable, keepLayout, paragraph_break, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve lens init',
  summary: 'Profile the columns of files and propose a lens for them',
  notes: [
    'Reads the first 16 MiB of a file of comma-separated values or JSON lines, and all of a Parquet file. Columns of',
    'several files are one field if their names or their values are alike; nearly empty ones are left out. The lens',
    'has comments about the observed data and the alternatives; it is printed after the profile, or written to --out.',
  ].join('\n'),
  options: {
    ...dataOption,
    ...dataFormatOptions,
    out: text('FILE', 'File to create for the lens (default: it is printed)'),
    ...jsonOption,
  },
  example: 'platform resolve lens init --data customers.csv --out customers.yaml',
  async run(params, terminal) {
    const { data, out, json } = params
    const [{ proposeLens }, { requireNewFile, writeNewFile }] = await Promise.all([
      offline.lensProposal(),
      offline.newFiles(),
    ])
    if (out !== undefined) requireNewFile(out)
    const { yaml, ...profile } = await proposeLens(
      await findRecordFiles(data, terminal),
      toFormatReading(params, terminal),
    )
    if (out !== undefined) writeNewFile(out, yaml)
    printResult(terminal, json, out === undefined ? { ...profile, yaml } : { ...profile, file: out }, () =>
      [
        ...profile.sources.flatMap((source) => [
          `Of ${source.isWhole ? 'all' : 'the first'} ${source.records} records of ${source.file}:`,
          formatTable(
            terminal,
            source.columns.map((column) => formatColumn(column, source.id_field)),
            ['column', 'type', 'missing', 'distinct', 'length', 'samples'],
            'no column',
          ),
        ]),
        out === undefined ? keepLayout(yaml.trimEnd()) : `The lens is in ${out}.`,
      ].join(paragraph_break),
    )
    return 0
  },
})

type ProposeLens = Awaited<ReturnType<typeof offline.lensProposal>>['proposeLens']
type ProposedColumn = Awaited<ReturnType<ProposeLens>>['sources'][number]['columns'][number]

function formatColumn(column: ProposedColumn, id_field: string | undefined) {
  return {
    ...column,
    type: column.column === id_field ? 'names the record' : column.type,
    missing: `${Math.round((column.missing / column.records) * 100)} %`,
    length: `${column.shortest} to ${column.longest}`,
  }
}
