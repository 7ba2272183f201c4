// Says how well a resolution fits a truth that is known.
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { required, text } from '../../program/params.ts'
import { formatFields, formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve evaluate',
  summary: 'measure a resolution beside the truth',
  notes: [
    'The truth has columns id and cluster, or id_l and id_r: pairs that are one; with source, or',
    'source_l and source_r, where sources have the same ids. Precision and recall are told over all',
    'pairs within clusters, over clusters that are wholly right, and over what each record shares with',
    'its cluster (B-cubed). Of a folder of `platform resolve run`, or with `--pairs`, also over linked',
    'pairs, by threshold, and how many of the true pairs were compared at all: exactly where the run',
    'was told `--all-pairs`, at least so many otherwise.',
  ].join('\n'),
  positionals: {
    found: required(text('DIR|FILE', 'what `platform resolve run` has written, or its file of clusters')),
  },
  options: {
    truth: required(text('FILE', 'the truth')),
    pairs: text('FILE', 'scored pairs: id_l, id_r and score'),
    out: text('DIR', 'a folder for evaluation.json, sweep.csv and sweep.svg'),
    ...jsonOption,
  },
  example: 'platform resolve evaluate resolved --truth truth.csv',
  async run({ found, truth, pairs, out, json }, terminal) {
    const { evaluateFiles, formatSweep } = await offline.evaluation()
    const evaluation = await evaluateFiles({ found, truth, pairs, out })
    const { records, entities_found, entities_true, scored } = evaluation
    const rows = [
      { measure: 'pairs in clusters', ...evaluation.pairs },
      { measure: 'whole clusters', ...evaluation.clusters },
      { measure: 'B-cubed', ...evaluation.b_cubed },
      ...(scored ? [{ measure: 'linked pairs', ...scored.linked }] : []),
    ]
    printResult(terminal, json, evaluation, () => {
      const { blocking_recall, has_all_pairs, best, sweep } = scored ?? {}
      const compared =
        blocking_recall === undefined ? undefined : `${has_all_pairs ? '' : 'at least '}${blocking_recall.toFixed(4)}`
      const counts = { records, entities_found, entities_true, true_pairs_compared: compared }
      return [
        formatFields(terminal, counts),
        formatTable(terminal, rows, ['measure', 'precision', 'recall', 'f1'], 'nothing was measured'),
        ...(sweep?.length ? [formatSweep({ sweep, best }, terminal.width)] : []),
      ].join('\n\n')
    })
    return 0
  },
})
