// Learns the weights of a lens once, so that later runs do not learn them again.
import { offline } from '../../../../daemon/offline/offline.ts'
import { formatLabelEffect } from '../../../format/label-effect.ts'
import {
  dataOption,
  lensOption,
  planRecordReading,
  recordFileOptions,
  sourceOption,
} from '../../../options/record-file-options.ts'
import { seedOption } from '../../../options/seed-option.ts'
import { jsonOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { text } from '../../../program/params.ts'
import { formatFields, formatTable, keepLayout, paragraph_break, printResult } from '../../../terminal/output.ts'
import { createProgressFormatter } from '../../../terminal/resolution-progress.ts'

export const definition = command({
  words: 'resolve lens train',
  summary: 'Learn the weights of a lens from data, and write its next version',
  notes: [
    'Without labels, u is learnt from pairs drawn at random and m by expectation and maximisation. Labels are a file',
    'with id_l, id_r and match (1 or 0), such as `platform resolve label` writes, or a file of decisions: weights and',
    'cut then follow the labels as far as labels that were set aside confirm it. Where all of the truth is known, a file with id and',
    'cluster of every record, or with id_l and id_r of every match, sets m from the true pairs. Columns source, or',
    'source_l and source_r, tell apart equal ids of several files. The new version is printed unless --out names a',
    'file. A run with it learns nothing: the same weights apply to other data.',
  ].join('\n'),
  options: {
    ...lensOption,
    ...dataOption,
    ...sourceOption,
    labels: text('FILE', 'Labelled pairs, or known clusters or matches (default: none)'),
    out: text('FILE', 'File to create for the lens (default: it is printed)'),
    ...recordFileOptions,
    seed: seedOption,
    ...jsonOption,
  },
  example: 'platform resolve lens train --lens persons --data people.csv --out persons-trained.yaml',
  async run(params, terminal) {
    const { lens, labels, out, seed, json } = params
    const [{ trainLens }, { requireNewFile, writeNewFile }] = await Promise.all([
      offline.lensTraining(),
      offline.newFiles(),
    ])
    if (out !== undefined) requireNewFile(out)
    const formatLine = createProgressFormatter(() => performance.now())
    const request = { lens, ...(await planRecordReading(params, terminal)), labels, seed }
    const { text: yaml, training } = await trainLens(request, (progress) => terminal.progress(formatLine(progress)))
    terminal.progress('')
    if (out === undefined && !json) {
      terminal.print(keepLayout(yaml.trimEnd()))
      return 0
    }
    if (out !== undefined) writeNewFile(out, yaml)
    const { levels, left_out, labels: effect, ...summary } = training
    printResult(terminal, json, out === undefined ? { ...training, yaml } : { ...training, file: out }, () =>
      [
        formatFields(terminal, { ...summary, file: out, left_out: left_out.length > 0 ? left_out : undefined }),
        ...(effect ? [formatLabelEffect(terminal, effect)] : []),
        formatTable(terminal, levels, ['field', 'level', 'm', 'u', 'bits'], 'no level'),
      ].join(paragraph_break),
    )
    return 0
  },
})
