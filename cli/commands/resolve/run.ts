// Resolves the records of files: who is who, written as files, on any machine and with no service.
import { offline } from '../../../daemon/offline/offline.ts'
import { seedOption } from '../../options/seed-option.ts'
import { jsonOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, duration, flag, required, rest, text } from '../../program/params.ts'
import { escapeControls, formatFields, printResult } from '../../terminal/output.ts'
import { createDeadline, createProgressFormatter } from '../../terminal/resolution-progress.ts'

const resultKinds = ['csv', 'jsonl', 'parquet'] as const

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
    lens: required(text('LENS', 'a file, or a shipped lens: persons, bibliography, products')),
    data: required(rest('FILE', 'the records; one file or more')),
    out: required(text('DIR', 'a new or empty folder for the results')),
    columns: rest('FIELD=COLUMN', 'where a field is, for columns that the lens does not know'),
    dataFormat: choice('KIND', 'what the files are, whatever their endings', [...resultKinds, 'tsv']),
    format: choice('KIND', 'of clusters and pairs; csv unless said', resultKinds),
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
    const [{ readLens, withColumns }, { resolveFiles }] = await Promise.all([
      offline.lenses(),
      offline.fileResolution(),
    ])
    const now_ms = () => performance.now()
    const line = createProgressFormatter(now_ms)
    const isLate = createDeadline(timeLimit, now_ms)
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
          throw new CommandFailure(1, `gave up after ${timeLimit} s, at ${line(told)}`, 'give it more `--time-limit`')
        terminal.progress(line(told))
      },
    )
    terminal.progress('')
    for (const { source_l, id_l, source_r, id_r } of summary.decisions?.overruled ?? []) {
      terminal.note(
        escapeControls(`${source_l} ${id_l} and ${source_r} ${id_r} are confirmed, but rejected pairs keep them apart`),
      )
    }
    printResult(terminal, json, summary, () =>
      formatFields(terminal, {
        ...summary,
        decisions: summary.decisions?.counted,
        commonest: Object.entries(summary.commonest)
          .map(([field, records]) => `${field} (${records})`)
          .join(', '),
        sources: summary.sources.map(({ name, records }) => `${name} (${records})`).join(', '),
        rules: summary.rules.length > 0 ? summary.rules.map(formatBlockingRule).join('; ') : undefined,
      }),
    )
    return 0
  },
})

type BlockingRuleSummary = {
  readonly rule: string
  readonly pairs: number
  readonly largest: number
  readonly left_out_count: number
}

function formatBlockingRule({ rule, pairs, largest, left_out_count }: BlockingRuleSummary): string {
  const left =
    left_out_count > 0 ? `, ${left_out_count} too large blocks left out, the largest of ${largest} records` : ''
  return `${rule} (${pairs} pairs${left})`
}
