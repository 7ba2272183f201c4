// Says how well a resolution fits a truth that is known.
import { offline } from '../../../daemon/boot/offline.ts'
import { command } from '../../command.ts'
import { fields, show, table } from '../../output.ts'
import { needed, text } from '../../params.ts'
import { jsonOption } from '../../site.ts'

export const definition = command({
  words: 'resolve evaluate',
  summary: 'measure a resolution beside the truth',
  notes: [
    'The truth has columns id and cluster, or id_l and id_r: pairs that are one. Precision and recall are told over all',
    'pairs within clusters, and over what each record shares with its cluster (B-cubed).',
  ].join('\n'),
  takes: { clusters: needed(text('FILE', 'clusters.csv, as `platform resolve run` writes it')) },
  options: { truth: needed(text('FILE', 'the truth')), ...jsonOption },
  example: 'platform resolve evaluate resolved/clusters.csv --truth truth.csv',
  async run({ clusters, truth, json }, terminal) {
    const { evaluateFiles } = await offline.resolutionQuality()
    const evaluation = evaluateFiles(clusters, truth)
    const { records, entities_found, entities_true, pairs, b_cubed } = evaluation
    const rows = [
      { measure: 'pairs', ...pairs },
      { measure: 'B-cubed', ...b_cubed },
    ]
    show(terminal, json, evaluation, () =>
      [
        fields(terminal, { records, entities_found, entities_true }),
        table(terminal, rows, ['measure', 'precision', 'recall', 'f1'], 'nothing was measured'),
      ].join('\n\n'),
    )
    return 0
  },
})
