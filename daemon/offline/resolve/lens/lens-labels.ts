// Reads labels from a file: pairs that match or not, or the cluster of each record.
import type { LabelledRecords } from '../../../roles/resolution/engine/labels/known-labels.ts'
import type { LensRecords, RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import type { TrainingLabels } from '../../../roles/resolution/engine/train.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { readDataFile } from '../data-file.ts'
import { findAnswerColumn, parseAnswer } from '../pair-answers.ts'
import { readColumnTexts } from '../resolved-record-index.ts'
import { type Contradiction, findContradiction } from './label-contradictions.ts'
import { LabelledRecordIndex } from './labelled-record-index.ts'

/** Labels, and what a person should know of them. */
export type LabelFile = {
  readonly labels: TrainingLabels
  /** Answers that a later line about the same pair replaced by another answer. */
  readonly changed: number
  /** Pairs about which a person is unsure. */
  readonly unsure: readonly Pick<LabelledRecords, 'a' | 'b'>[]
  /** A pair that is not a match although matches join its records. */
  readonly contradiction?: Contradiction
}

/**
 * Reads columns `id` and `cluster` (a record without a line is alone), or `id_l`, `id_r` and optionally `match` or
 * `decision`; without them all pairs are matches, and all matches are there. `source`, or `source_l` and `source_r`, tell
 * apart records of several sources with one id. The last line about a pair counts. Throws `OfflineCommandError` (1) for an
 * unknown record, an ambiguous id, an invalid answer, and a file without an answer.
 */
export async function readLabels(
  file: string,
  records: LensRecords,
  { mayBeEmpty = false }: { readonly mayBeEmpty?: boolean } = {},
): Promise<LabelFile> {
  const source = await readDataFile(file, () => true)
  const index = new LabelledRecordIndex(records, file)
  if (source.names.includes('cluster'))
    return { labels: readClusters(source, index, records.rows, file), changed: 0, unsure: [] }
  const lefts = findRows(source, index, '_l', file)
  const rights = findRows(source, index, '_r', file)
  const column = findAnswerColumn(source.names)
  const latest = new Map<string, LabelledRecords>()
  const unsure = new Map<string, Pick<LabelledRecords, 'a' | 'b'>>()
  let changed = 0
  for (const [at, text] of (column ? readColumnTexts(source, column, file) : lefts.map(() => '1')).entries()) {
    const cell = text.trim()
    const [a = 0, b = 0] = [lefts[at], rights[at]]
    if (a === b) throw new OfflineCommandError(1, `${file}, record ${at + 1}: the pair names the same record twice`)
    const isMatch = parseAnswer(cell, `${file}, record ${at + 1}`, column ?? 'match')
    const key = `${Math.min(a, b)} ${Math.max(a, b)}`
    const earlier = latest.get(key)
    if (earlier && earlier.isMatch !== isMatch) changed++
    latest.delete(key)
    unsure.delete(key)
    if (isMatch === undefined && cell !== '') unsure.set(key, { a, b })
    if (isMatch !== undefined) latest.set(key, { a, b, isMatch })
  }
  const pairs = [...latest.values()]
  if (pairs.length === 0 && !mayBeEmpty) throw new OfflineCommandError(1, `${file} contains no answer`, answer_remedy)
  const contradiction = findContradiction(pairs, records)
  return {
    labels: { kind: column ? 'pairs' : 'matches', pairs },
    changed,
    unsure: [...unsure.values()],
    ...(contradiction && { contradiction }),
  }
}

/** Reads answers about some pairs. Throws `OfflineCommandError` (1), for a file of all matches or clusters too. */
export async function readPairLabels(file: string, records: LensRecords): Promise<readonly LabelledRecords[]> {
  const { labels } = await readLabels(file, records)
  if (labels.kind === 'pairs') return labels.pairs
  throw new OfflineCommandError(
    1,
    `${file} has no column of answers: match or decision`,
    '`platform resolve evaluate FOUND --truth FILE` measures a result against all of the truth',
  )
}

const answer_remedy = 'put 1 or 0 into the column match'

function readClusters(source: RecordSource, index: LabelledRecordIndex, rows: number, file: string): TrainingLabels {
  const numbers = new Map<string, number>()
  // Records without a line get a cluster of their own, with a negative number that no named cluster has.
  const clusters = Int32Array.from({ length: rows }, (_, row) => -1 - row)
  const lines = findRows(source, index, '', file)
  for (const [at, name] of readColumnTexts(source, 'cluster', file).entries()) {
    if (!numbers.has(name)) numbers.set(name, numbers.size)
    clusters[lines[at] ?? 0] = numbers.get(name) ?? 0
  }
  return { kind: 'clusters', clusters }
}

/** Row of the record that each line names. */
function findRows(source: RecordSource, index: LabelledRecordIndex, suffix: '' | '_l' | '_r', file: string): number[] {
  const ids = readColumnTexts(source, `id${suffix}`, file)
  const name = `source${suffix}`
  const sources = source.names.includes(name) ? readColumnTexts(source, name, file) : undefined
  return ids.map((id, at) => index.requireRow(id, sources?.[at], at, name))
}
