// Resolves the records of files: who is who, written as files, on any machine and with no service.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { fields, show } from '../../output.ts'
import { needed, rest, text, whole } from '../../params.ts'
import { progressTeller } from '../../resolve-progress.ts'
import { jsonOption } from '../../site.ts'

export const definition = command({
  words: 'resolve run',
  summary: 'find who is who among the records of files',
  notes: [
    'Each file is one source: comma-separated values in UTF-8 whose first line names the columns. Within and between',
    'sources, records of one entity get one cluster. No label is needed: weights are learnt from the data. The same',
    'data, lens and seed give the same files: clusters.csv, pairs.csv and run.json.',
  ].join('\n'),
  options: {
    lens: needed(text('LENS', 'a file, or a shipped lens: persons, bibliography, products')),
    data: needed(rest('FILE', 'the records; one file or more')),
    out: needed(text('DIR', 'a new or empty folder for the results')),
    columns: rest('FIELD=COLUMN', 'where a field is, for columns that the lens does not know'),
    seed: whole('N', 'what chance begins with; 0 unless said', 0, 4_294_967_295),
    ...jsonOption,
  },
  example: 'platform resolve run --lens persons --data people.csv --out resolved',
  async run({ data, lens, out, columns, seed = 0, json }, terminal) {
    const [{ readLens, withColumns }, { resolveFiles }] = await Promise.all([offline.lenses(), offline.resolution()])
    const line = progressTeller(() => performance.now())
    const fitted = withColumns(readLens(lens), columns)
    const summary = resolveFiles({ lens: fitted, files: data, out, seed }, (told) => terminal.progress(line(told)))
    terminal.progress('')
    show(terminal, json, summary, () =>
      fields(terminal, {
        ...summary,
        sources: summary.sources.map(({ name, records }) => `${name} (${records})`).join(', '),
        rules: summary.rules.length > 0 ? summary.rules.map(ruleText).join('; ') : undefined,
      }),
    )
    return 0
  },
})

type Rule = { readonly rule: string; readonly pairs: number; readonly largest: number; readonly left_out_count: number }

function ruleText({ rule, pairs, largest, left_out_count }: Rule): string {
  const left =
    left_out_count > 0 ? `, ${left_out_count} too large blocks left out, the largest of ${largest} records` : ''
  return `${rule} (${pairs} pairs${left})`
}
