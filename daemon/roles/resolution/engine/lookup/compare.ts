// Compares one record with others by the stored weights of a run.
import { readExplicitLevels } from '../../lens/field.ts'
import type { Lens } from '../../lens/model.ts'
import { createPairComparer, type FieldColumn } from '../compare/pair-comparer.ts'
import { findSwappedFields } from '../compare/swapped-fields.ts'
import type { PartialMatchWeight } from '../score/match-weights.ts'
import { DictionaryBuilder } from '../text/dictionary.ts'
import type { FieldValues } from './keys.ts'
import type { LookupIndex } from './lookup-index.ts'
import type { LookupWeights } from './weights.ts'

export type RecordComparison = {
  /** In natural logs of odds. */
  readonly score: number
  readonly parts: readonly PartialMatchWeight[]
}

/** Values that establish how common words are, besides those compared. */
const background_values = 256

/** Compares the record with each of `others`, in their order. Every value is in normal form. */
export function compareRecord(
  lens: Lens,
  weights: LookupWeights,
  index: Pick<LookupIndex, 'frequencyTerm' | 'sample'>,
  record: FieldValues,
  others: readonly FieldValues[],
): RecordComparison[] {
  const all = [record, ...others]
  const used = lens.fields.filter(({ name }) => weights.fields.some((each) => each.name === name))
  const fields = used.map((of) => buildFieldColumn(of, all, index))
  const compares = createPairComparer(fields, findSwappedFields(lens, fields))
  const rights = Int32Array.from(others, (_, at) => at + 1)
  const { of, room } = compares.compare(new Int32Array(others.length), rights, 0, others.length)
  return others.map((_, at) => {
    const parts = fields.map(({ name }, field): PartialMatchWeight => {
      const { outcomes: list = [], has_frequencies } = weights.fields.find((each) => each.name === name) ?? {}
      const outcome = of[field * room + at]!
      const term = outcome === 1 && has_frequencies ? index.frequencyTerm(name, record[name] ?? '') : 0
      return { field: name, outcome, bits: (list[outcome] ?? 0) / Math.LN2, frequency_bits: term / Math.LN2 }
    })
    const field_bits = parts.reduce((sum, { bits, frequency_bits }) => sum + bits + frequency_bits, 0)
    return { score: weights.prior + field_bits * Math.LN2, parts }
  })
}

/** Whether the similarity of two values depends on the word frequencies of all compared values. */
export function comparesByWords(of: Lens['fields'][number]): boolean {
  const levels = readExplicitLevels(of)
  return levels ? levels.some(({ measure }) => measure === 'tfidf_cosine') : of.type === 'text'
}

function buildFieldColumn(
  of: Lens['fields'][number],
  all: readonly FieldValues[],
  index: Pick<LookupIndex, 'sample'>,
): FieldColumn {
  const { name, type, q } = of
  const levels = readExplicitLevels(of)
  const builder = new DictionaryBuilder()
  const codes = Int32Array.from(all, (values) => builder.add(values[name] ?? ''))
  if (comparesByWords(of)) for (const value of index.sample(name, background_values)) builder.add(value)
  return { name, type, q, levels, column: { codes, dictionary: builder.finish() } }
}
