// Writes the pairs that are worth a label as a table to fill in by hand, which is read back as a file of labels.
import { existsSync } from 'node:fs'
import { runAsInvoker } from '../../../boot/host/act-as-owner.ts'
import { createPairChooser } from '../../../roles/resolution/engine/labels/choose-pairs.ts'
import type { EngineProgressListener } from '../../../roles/resolution/engine/progress.ts'
import { buildRecords } from '../../../roles/resolution/engine/records/records.ts'
import { createOriginalReader } from '../folder/original-values.ts'
import { readLabels } from '../lens/lens-labels.ts'
import { convertLensFaults, readLensSources } from '../lens-records.ts'
import { requireNewFile, writeNewFile } from '../new-files.ts'
import { nameSource, refuseDuplicateSources } from '../reading/source-names.ts'
import { remarkUnreadColumns } from '../reading/unread-columns.ts'
import { formatCsvLine, label_columns } from './label-line.ts'
import type { LabelSessionOptions } from './label-session.ts'
import { createQuestionReader } from './pair-question.ts'

/** `labels`: earlier answers, whose pairs are left out; none if the file does not exist. */
export type QuestionSheetOptions = Omit<LabelSessionOptions, 'labels'> & {
  readonly labels: string | undefined
  readonly out: string
}

/** Returns the number of pairs. Throws `OfflineCommandError`: 1 for unusable data and labels, 3 if the file exists. */
export async function writeQuestions(
  { lens, files, reading, seed, labels, wanted, out }: QuestionSheetOptions,
  onProgress: EngineProgressListener,
): Promise<number> {
  requireNewFile(out)
  refuseDuplicateSources(files.map((file) => nameSource(file, reading.sources)))
  const sources = await readLensSources(lens, files, onProgress, reading)
  remarkUnreadColumns(
    sources.map(({ name }) => name),
    sources.map(({ reading }) => reading),
    reading.onRemark,
  )
  const records = convertLensFaults(() => buildRecords(lens, sources))
  // A file that is not there is the one that the answers will go to: none was given yet.
  const hasAnswers = labels !== undefined && runAsInvoker(() => existsSync(labels))
  const earlier = hasAnswers ? await readLabels(labels, records, { mayBeEmpty: true }) : undefined
  const known = earlier?.labels.kind === 'pairs' ? earlier.labels.pairs : []
  const chooser = convertLensFaults(() => createPairChooser(lens, records, seed, onProgress))
  const pairs = chooser.choose(known, [...known, ...(earlier?.unsure ?? [])], wanted)
  const original = createOriginalReader(lens, records, sources)
  const questionOf = createQuestionReader(records, chooser.resolution, original)
  const names = records.fields.flatMap(({ name }) => [`${name}_l`, `${name}_r`])
  const lines = pairs.map((pair) => {
    const { left, right, score, fields } = questionOf(pair)
    const values = fields.flatMap((field) => [field.left ?? '', field.right ?? ''])
    return formatCsvLine([left.source, left.id, right.source, right.id, '', score, ...values])
  })
  const sheet = [formatCsvLine([...label_columns, 'score', ...names]), ...lines]
  writeNewFile(out, sheet.map((line) => `${line}\n`).join(''))
  return pairs.length
}
