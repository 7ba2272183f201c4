// Matches records of files against a registry that a run has written, on any machine and without a service.
import { offline } from '../../../daemon/offline/offline.ts'
import { outcomeColumns } from '../../format/outcome-columns.ts'
import {
  dataOption,
  planRecordReading,
  recordFileOptions,
  runLensOption,
  sourceOption,
  thresholdOption,
} from '../../options/record-file-options.ts'
import { jsonOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { choice, required, text } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'
import { createProgressFormatter } from '../../terminal/resolution-progress.ts'

const resultKinds = ['csv', 'jsonl', 'parquet'] as const

export const definition = command({
  words: 'resolve match',
  summary: 'Match new records of files against a registry, without a run',
  notes: [
    'The registry is one that `platform resolve run --registry FILE --keep-records` has written. Each record',
    'joins an entity or starts a new one, by the weights of that run; entities keep their ids, and decisions of',
    'that run hold. Outcomes are those of `platform resolve add`: new, joined, merged, replaced and unchanged. The',
    'same records again change nothing. With `--out`, writes matched (source, id, outcome, entity, size, merged_from),',
    'pairs and changes as in a run, and match.json, which is written last.',
  ].join('\n'),
  options: {
    registry: required(text('FILE', 'Registry; the command updates it')),
    ...runLensOption,
    ...dataOption,
    ...sourceOption,
    out: text('DIR', 'New or empty folder for the results (default: only the registry is written)'),
    ...recordFileOptions,
    ...thresholdOption,
    format: choice('KIND', 'Format of the results; default: csv', resultKinds),
    ...jsonOption,
  },
  example: 'platform resolve match --registry entities.jsonl --lens persons --data new-people.csv --source people.csv',
  async run(params, terminal) {
    const { registry, lens, out, format, json } = params
    const { columns, ...records } = await planRecordReading(params, terminal)
    const [{ readLens, withColumns }, { matchFiles }] = await Promise.all([offline.lenses(), offline.fileMatching()])
    const formatLine = createProgressFormatter(() => performance.now())
    const request = { lens: withColumns(readLens(lens), columns), registry, ...records, out, format }
    const items = await matchFiles(request, (progress) => terminal.progress(formatLine(progress)))
    terminal.progress('')
    printResult(terminal, json, { items }, () =>
      formatTable(terminal, items, ['source', 'id', ...outcomeColumns(items)], 'no records'),
    )
    return 0
  },
})
