// Resolves the records of files and writes the results as files, on any machine and without a service.
import { offline } from '../../../daemon/offline/offline.ts'
import {
  type FileResolutionSummary,
  formatResolutionSummary,
  type QualityWords,
} from '../../format/resolution-summary.ts'
import {
  dataOption,
  lensOption,
  planRecordReading,
  recordFileOptions,
  sourceOption,
  thresholdOption,
} from '../../options/record-file-options.ts'
import { seedOption } from '../../options/seed-option.ts'
import { jsonOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, duration, flag, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'
import { createDeadline, createProgressFormatter } from '../../terminal/resolution-progress.ts'

const resultKinds = ['csv', 'jsonl', 'parquet'] as const

export const definition = command({
  words: 'resolve run',
  summary: 'Resolve the records of files into entities',
  notes: [
    'Each file is one source: text whose first line names the columns (any ending), with tabs (.tsv, .tab), JSON',
    'lines (.jsonl, .ndjson), Parquet (.parquet), or a sheet of Excel (.xlsx, .xls). Encoding, delimiter and quotation',
    'marks are found, and reported.',
    '',
    'Records of one entity, within and between sources, get one cluster. No labels',
    'are needed: weights are learnt from the data. The same data, lens and seed give the same files: clusters',
    '(source, id, cluster), pairs (source_l, id_l, source_r, id_r, score in bits, linked), model.json (weights and',
    'scores), records (source, id, cluster and all columns of the data), entities (one row each: cluster, records,',
    'sources, record_ids, and the golden record by the rule of each field, as the data writes it; neither with --ids-only) and',
    'run.json, which is written last. inputs.json names the files that were read. Ctrl-C ends the',
    'run; a file under its final name is complete.',
    '',
    'Decisions override the result: confirmed pairs are together,',
    'rejected ones apart; if both conflict, the rejected ones win. With several sources, decisions need source_l',
    'and source_r too. With `--registry`, clusters have a column entity: an id that stays with the largest part',
    'of its records through merges and splits (a record is one by its source and id: a renamed file needs --source),',
    'and changes (entity, change, from, into) has every id that began, changed or ended.',
    '',
    'The result estimates its own precision and recall. A poor one ends with exit code 6,',
    'changes no registry and has no entities, unless --accept-poor is given. With --labels, labelled pairs',
    'estimate both too, and decide the verdict.',
    '',
    'The clusters list the records in their order in the files. An id of --make-ids is a digest of the columns that the lens reads: the same',
    'record has it in every run.',
  ].join('\n'),
  options: {
    ...lensOption,
    ...dataOption,
    ...sourceOption,
    out: required(text('DIR', 'New or empty folder for the results')),
    ...recordFileOptions,
    ...thresholdOption,
    format: choice('KIND', 'Format of clusters and pairs; default: csv', resultKinds),
    allPairs: flag('Write every compared pair, not only linked and nearly linked ones'),
    decisions: text('FILE', 'Decided pairs: id_l, id_r and decision (confirm, reject, defer); default: none'),
    labels: text('FILE', 'Labelled pairs that estimate the quality: id_l, id_r and match (1 or 0); default: none'),
    registry: text('FILE', 'Registry that keeps entity ids from run to run, created if missing (default: none)'),
    keepRecords: flag('Keep the records in the registry too, for `platform resolve match`'),
    idsOnly: flag('Write no values of the data: neither records nor entities'),
    acceptPoor: flag('Accept a result whose estimated quality is poor: update the registry and exit with 0'),
    timeLimit: duration('TIME', 'Time limit (default: none)'),
    seed: seedOption,
    ...jsonOption,
  },
  example: 'platform resolve run --lens persons --data people.csv --out resolved',
  async run(params, terminal) {
    const {
      lens,
      out,
      format,
      allPairs,
      decisions,
      labels,
      registry,
      keepRecords,
      acceptPoor,
      idsOnly,
      timeLimit,
      seed,
      json,
    } = params
    const [{ readLens, withColumns }, { resolveFiles }, { describeQuality }, { describeUnreadColumns }] =
      await Promise.all([offline.lenses(), offline.fileResolution(), offline.resultQuality(), offline.unreadColumns()])
    const { columns, ...records } = await planRecordReading(params, terminal)
    const now_ms = () => performance.now()
    const formatLine = createProgressFormatter(now_ms)
    const isLate = createDeadline(timeLimit, now_ms)
    const summary = await resolveFiles(
      {
        lens: withColumns(readLens(lens), columns),
        lensName: lens,
        ...records,
        out,
        seed,
        format,
        hasAllPairs: allPairs,
        decisions,
        labels,
        registry,
        keepsRecords: keepRecords,
        acceptsPoor: acceptPoor,
        idsOnly,
      },
      (progress) => {
        if (isLate())
          throw new CommandFailure(
            1,
            `the run exceeded its time limit of ${timeLimit} s, at ${formatLine(progress)}`,
            'raise --time-limit',
          )
        terminal.progress(formatLine(progress))
      },
    )
    terminal.progress('')
    for (const { source_l, id_l, source_r, id_r } of summary.decisions?.overruled ?? []) {
      terminal.note(`${source_l} ${id_l} and ${source_r} ${id_r} are confirmed, but rejected pairs keep them apart`)
    }
    const quality = describeQuality(summary.quality)
    const unread = describeUnreadColumns(summary.sources)
    printResult(terminal, json, summary, () => formatResolutionSummary(terminal, summary, quality, { out, unread }))
    const failure = findPoorResultFailure(summary, quality, registry)
    if (failure && !acceptPoor) throw failure
    return 0
  },
})

function findPoorResultFailure(
  { quality: { verdict }, registry: effect }: FileResolutionSummary,
  { faults }: QualityWords,
  registry: string | undefined,
): CommandFailure | undefined {
  const unwritten = effect === 'unwritten' ? `; the registry ${registry} was not written` : ''
  if (verdict === 'no_links' && unwritten)
    return new CommandFailure(
      6,
      `no two records are linked, and the registry has entities of several records${unwritten}`,
      'compare the lens and the data with those of the run before; --accept-poor splits the entities',
    )
  if (verdict !== 'poor') return undefined
  return new CommandFailure(
    6,
    `the result is poor: ${faults.join('; ')}${unwritten}`,
    'give the lens fields that tell entities apart, raise its threshold, or decide pairs (--decisions); --accept-poor takes the result as it is',
  )
}
