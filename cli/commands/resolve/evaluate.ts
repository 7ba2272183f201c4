// Measures a resolution against known truth.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatFields, formatTable, keepLayout, paragraph_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve evaluate',
  summary: 'Measure a resolution against known truth',
  notes: [
    'The truth has columns id and cluster, or id_l and id_r of all matches; with source, or source_l and source_r,',
    'where sources share ids, and with match (1 or 0) where it names other pairs as well. Precision and recall are',
    'computed over all pairs within clusters, over clusters that are wholly right, and per record (B-cubed). For a',
    'folder of `platform resolve run`, or with `--pairs`, also over linked pairs, by threshold, with the share of',
    'true pairs that were compared: exact if the run used `--all-pairs`, a lower bound otherwise. Thresholds have the',
    'unit of the scores: bits, or a text similarity.',
  ].join('\n'),
  positionals: {
    found: required(text('DIR|FILE', 'Result folder of `platform resolve run`, or its file of clusters')),
  },
  options: {
    truth: required(text('FILE', 'File with the known truth')),
    pairs: text('FILE', 'Scored pairs: id_l, id_r and score (default: none)'),
    out: text('DIR', 'Folder for evaluation.json, sweep.csv and sweep.svg (default: nothing is written)'),
    ...jsonOption,
  },
  example: 'platform resolve evaluate resolved --truth truth.csv',
  async run({ found: input, truth, pairs, out, json }, terminal) {
    const { evaluateFiles, formatSweep } = await offline.evaluation()
    const evaluation = await evaluateFiles({ input, truth, pairs, out })
    const { records, entities_found, entities_true, scored } = evaluation
    const rows = [
      { measure: 'pairs in clusters', ...evaluation.pairs },
      { measure: 'whole clusters', ...evaluation.clusters },
      { measure: 'B-cubed', ...evaluation.b_cubed },
      ...(scored ? [{ measure: 'linked pairs', ...scored.linked }] : []),
    ]
    printResult(terminal, json, evaluation, () => {
      const { blocking_recall, has_all_pairs, unit, best, sweep } = scored ?? {}
      const compared =
        blocking_recall === undefined ? undefined : `${has_all_pairs ? '' : 'at least '}${blocking_recall.toFixed(4)}`
      const counts = { records, entities_found, entities_true, true_pairs_compared: compared }
      return [
        formatFields(terminal, counts),
        formatTable(terminal, rows, ['measure', 'precision', 'recall', 'f1'], 'nothing was measured'),
        ...(sweep?.length ? [keepLayout(formatSweep({ sweep, best, unit }, terminal.width))] : []),
      ].join(paragraph_break)
    })
    return 0
  },
})
