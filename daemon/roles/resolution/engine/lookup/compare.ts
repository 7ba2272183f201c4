// Compares one record with others, with the stored weights of a run.
import { readExplicitLevels } from '../../lens/field.ts'
import type { Lens } from '../../lens/model.ts'
import { readNameOptions } from '../../lens/name-options.ts'
import { createPairComparer, type FieldColumn } from '../compare/pair-comparer.ts'
import { findSwappedFields } from '../compare/swapped-fields.ts'
import type { PartialMatchWeight } from '../score/match-weights.ts'
import { DictionaryBuilder } from '../text/dictionary.ts'
import type { FieldValues } from './keys.ts'
import type { LookupIndex } from './lookup-index.ts'
import type { LookupWeights } from './weights.ts'

/** Scores in natural log-odds. */
export type RecordComparison = {
  readonly score: number
  /** The score if what differs did not count. */
  readonly agreement: number
  readonly parts: readonly PartialMatchWeight[]
}

/** Limit of further values that establish the frequency of words. */
const background_values = 256

/** Compares the record with each of `others`, in order. All values are normalised. */
export function compareRecord(
  lens: Lens,
  weights: LookupWeights,
  index: Pick<LookupIndex, 'frequencyTerm' | 'sample'>,
  record: FieldValues,
  others: readonly FieldValues[],
): RecordComparison[] {
  const all = [record, ...others]
  const used = lens.fields.filter(({ name }) => weights.fields.some((weight) => weight.name === name))
  const fields = used.map((field) => buildFieldColumn(field, all, index))
  const comparer = createPairComparer(fields, findSwappedFields(lens, fields))
  const rights = Int32Array.from(others, (_, at) => at + 1)
  const { values, room } = comparer.compare(new Int32Array(others.length), rights, 0, others.length)
  return others.map((_, at) => {
    const parts = fields.map(({ name }, field): PartialMatchWeight => {
      const { outcomes: list = [], has_frequencies } = weights.fields.find((weight) => weight.name === name) ?? {}
      const outcome = values[field * room + at]!
      const term = outcome === 1 && has_frequencies ? index.frequencyTerm(name, record[name] ?? '') : 0
      return { field: name, outcome, bits: (list[outcome] ?? 0) / Math.LN2, frequency_bits: term / Math.LN2 }
    })
    let [all_bits, agreeing_bits] = [0, 0]
    for (const { bits, frequency_bits } of parts) {
      all_bits += bits + frequency_bits
      agreeing_bits += Math.max(0, bits + frequency_bits)
    }
    const { prior } = weights
    return { score: prior + all_bits * Math.LN2, agreement: prior + agreeing_bits * Math.LN2, parts }
  })
}

/**
 * Whether a pair has the evidence for a link. The cut of a run may be below even odds, for what differs between records of one
 * entity. Where less than half of the fields of the run can be compared, little can differ, and a first name alone would join
 * anybody of that name: then what agrees must make even odds. A lens that sets the cut means it.
 */
export function hasEvidence({ threshold }: Pick<Lens, 'threshold'>, { agreement, parts }: RecordComparison): boolean {
  const compared = parts.filter(({ outcome }) => outcome > 0).length
  return threshold !== undefined || agreement >= 0 || compared * 2 >= parts.length
}

/** Whether the similarity of two values depends on the word frequencies of all compared values. */
export function comparesByWords(field: Lens['fields'][number]): boolean {
  const levels = readExplicitLevels(field)
  if (levels) return levels.some(({ measure }) => measure === 'tfidf_cosine')
  return field.type === 'text' || field.type === 'codes'
}

function buildFieldColumn(
  field: Lens['fields'][number],
  records: readonly FieldValues[],
  index: Pick<LookupIndex, 'sample'>,
): FieldColumn {
  const { name, type, q } = field
  const levels = readExplicitLevels(field)
  const builder = new DictionaryBuilder()
  const codes = Int32Array.from(records, (values) => builder.add(values[name] ?? ''))
  const compared = new Set(codes)
  if (comparesByWords(field)) for (const value of index.sample(name, background_values)) builder.add(value)
  const dictionary = builder.finish()
  // The compared records share words because they were found by them: only the others show how common a word is.
  const counts = Int32Array.from({ length: dictionary.size }, (_, code) => (compared.has(code) ? 0 : 1))
  return { name, type, q, levels, names: readNameOptions(field), column: { codes, dictionary, counts } }
}
