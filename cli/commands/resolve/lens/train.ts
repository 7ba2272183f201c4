// Learns what the levels of a lens are worth, once, so that later runs need not.
import { offline } from '../../../../daemon/boot/offline.ts'
import { command } from '../../../command.ts'
import { fields, printable, show, table } from '../../../output.ts'
import { needed, rest, text } from '../../../params.ts'
import { progressTeller } from '../../../resolve-progress.ts'
import { seedOption } from '../../../seed-option.ts'
import { jsonOption } from '../../../site.ts'

export const definition = command({
  words: 'resolve lens train',
  summary: 'learn the weights of a lens from data, and write its next version',
  notes: [
    'Without labels, u is learnt from pairs drawn at random and m by expectation and maximisation. With labels, m comes from',
    'the pairs that are one: a file with id and cluster of every record, or with id_l, id_r and, if wanted, match (1 or 0).',
    'The new version is printed unless --out names a file. A run with it learns nothing: the same weights serve other data.',
  ].join('\n'),
  options: {
    lens: needed(text('LENS', 'a file, or a shipped lens: persons, bibliography, products')),
    data: needed(rest('FILE', 'the records; one file or more')),
    labels: text('FILE', 'what is known: clusters, or pairs'),
    out: text('FILE', 'a new file for the lens'),
    columns: rest('FIELD=COLUMN', 'where a field is, for columns that the lens does not know'),
    seed: seedOption,
    ...jsonOption,
  },
  example: 'platform resolve lens train --lens persons --data people.csv --out persons-trained.yaml',
  async run({ lens, data, labels, out, columns, seed, json }, terminal) {
    const [{ trainLens }, { saveNew }] = await Promise.all([offline.lensTraining(), offline.newFiles()])
    const line = progressTeller(() => performance.now())
    const wanted = { lens, files: data, columns, labels, seed }
    const { text: yaml, training } = await trainLens(wanted, (told) => terminal.progress(line(told)))
    terminal.progress('')
    if (out === undefined && !json) {
      terminal.print(printable(yaml.trimEnd()))
      return 0
    }
    if (out !== undefined) saveNew(out, yaml)
    const { levels, left_out, ...summary } = training
    show(terminal, json, out === undefined ? { ...training, yaml } : { ...training, file: out }, () =>
      [
        fields(terminal, { ...summary, file: out, left_out: left_out.length > 0 ? left_out : undefined }),
        table(terminal, levels, ['field', 'level', 'm', 'u', 'bits'], 'no level'),
      ].join('\n\n'),
    )
    return 0
  },
})
