// Resolves the records of files: who is who, written as files, on any machine and with no service.
import { offline } from '../../../daemon/boot/offline.ts'
import { command, Failure } from '../../command.ts'
import { fields, printable, show } from '../../output.ts'
import { choice, duration, flag, needed, rest, text } from '../../params.ts'
import { lateAfter, progressTeller } from '../../resolve-progress.ts'
import { seedOption } from '../../seed-option.ts'
import { jsonOption } from '../../site.ts'

const kinds = ['csv', 'jsonl', 'parquet'] as const

export const definition = command({
  words: 'resolve run',
  summary: 'find who is who among the records of files',
  notes: [
    'Each file is one source: comma-separated values in UTF-8 whose first line names the columns (any',
    'ending), the same with tabs (.tsv, .tab), JSON lines (.jsonl, .ndjson), or Parquet (.parquet). Within and between sources, records',
    'of one entity get one cluster. No label is needed: weights are learnt from the data. The same',
    'data, lens and seed give the same files: clusters (source, id, cluster), pairs (source_l, id_l,',
    'source_r, id_r, score, linked) and run.json, which is written last. Ctrl-C ends it; a file under',
    'its final name is whole. Decisions hold over what is found: confirmed pairs are together, rejected ones',
    'apart, and where both contradict each other the rejected ones win; with several sources they name',
    'source_l and source_r as well. With `--registry`, clusters have a column entity: an id that stays with',
    'the largest part of its records, whatever is merged or split.',
  ].join('\n'),
  options: {
    lens: needed(text('LENS', 'a file, or a shipped lens: persons, bibliography, products')),
    data: needed(rest('FILE', 'the records; one file or more')),
    out: needed(text('DIR', 'a new or empty folder for the results')),
    columns: rest('FIELD=COLUMN', 'where a field is, for columns that the lens does not know'),
    dataFormat: choice('KIND', 'what the files are, whatever their endings', [...kinds, 'tsv']),
    format: choice('KIND', 'of clusters and pairs; csv unless said', kinds),
    allPairs: flag('write every pair that was compared, and not only those that are linked or were near it'),
    decisions: text('FILE', 'pairs that are decided: id_l, id_r and decision (confirm, reject, defer)'),
    registry: text('FILE', 'keeps the ids of entities from run to run; made where there is none'),
    keepRecords: flag('the registry keeps what the records say as well, for `platform resolve match`'),
    timeLimit: duration('TIME', 'give up after this'),
    seed: seedOption,
    ...jsonOption,
  },
  example: 'platform resolve run --lens persons --data people.csv --out resolved',
  async run(given, terminal) {
    const {
      data,
      lens,
      out,
      columns,
      dataFormat,
      format,
      allPairs,
      decisions,
      registry,
      keepRecords,
      timeLimit,
      seed,
      json,
    } = given
    const [{ readLens, withColumns }, { resolveFiles }] = await Promise.all([offline.lenses(), offline.resolution()])
    const now_ms = () => performance.now()
    const line = progressTeller(now_ms)
    const isLate = lateAfter(timeLimit, now_ms)
    const summary = await resolveFiles(
      {
        lens: withColumns(readLens(lens), columns),
        files: data,
        out,
        seed,
        dataKind: dataFormat,
        format,
        hasAllPairs: allPairs,
        decisions,
        registry,
        keepsRecords: keepRecords,
      },
      (told) => {
        if (isLate())
          throw new Failure(1, `gave up after ${timeLimit} s, at ${line(told)}`, 'give it more `--time-limit`')
        terminal.progress(line(told))
      },
    )
    terminal.progress('')
    for (const { source_l, id_l, source_r, id_r } of summary.decisions?.overruled ?? []) {
      terminal.note(
        printable(`${source_l} ${id_l} and ${source_r} ${id_r} are confirmed, but rejected pairs keep them apart`),
      )
    }
    show(terminal, json, summary, () =>
      fields(terminal, {
        ...summary,
        decisions: summary.decisions?.counted,
        commonest: Object.entries(summary.commonest)
          .map(([field, records]) => `${field} (${records})`)
          .join(', '),
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
