// Scores any two records of a run with its weights, whether the run compared them or not.
import { createPairComparer } from '../../../roles/resolution/engine/compare/pair-comparer.ts'
import { PairList } from '../../../roles/resolution/engine/compare/patterns.ts'
import { findSwappedFields } from '../../../roles/resolution/engine/compare/swapped-fields.ts'
import {
  createPartialWeightReader,
  type PartialMatchWeight,
} from '../../../roles/resolution/engine/score/match-weights.ts'
import { buildMatchEvidence } from '../../../roles/resolution/explain/evidence.ts'
import { buildWaterfall, type Waterfall } from '../../../roles/resolution/explain/waterfall.ts'
import type { FileRun } from './open-run.ts'
import { createNormalReader } from './original-values.ts'
import { toMatchWeights } from './run-model.ts'

export type RecordRows = readonly [left: number, right: number]

/** The weights of the fields of each pair, in the order of the pairs. */
export function weighPairs({ records, model }: FileRun, pairs: readonly RecordRows[]): PartialMatchWeight[][] {
  const comparer = createPairComparer(records.fields, findSwappedFields(model.lens, records.fields))
  const list = new PairList(comparer)
  for (const [a, b] of pairs) list.add(Math.min(a, b), Math.max(a, b))
  const read = createPartialWeightReader(records, list.compared(), toMatchWeights(model))
  return pairs.map((_, pair) => read(pair))
}

/**
 * Explains the score of a pair. A likeness follows from the texts of all records: without `likeness` (a pair that was not
 * compared), the explanation has the evidence of the fields alone, from 0.
 */
export function explainPair(
  run: FileRun,
  [left, right]: RecordRows,
  levels: PartialMatchWeight[],
  likeness: number | undefined,
  found_by: readonly string[] = [],
): Waterfall {
  const { model, records } = run
  const read = createNormalReader(records)
  const valuesOf = (row: number) =>
    Object.fromEntries(
      records.fields.flatMap(({ name }, at) => {
        const value = read(row, at)
        return value === undefined ? [] : [[name, value] as const]
      }),
    )
  const prior_bits = model.prior_bits ?? 0
  const score = likeness === undefined ? {} : { likeness }
  const match = { score, levels, prior_bits, found_by: [...found_by] }
  return buildWaterfall(buildMatchEvidence(match, model.lens, valuesOf(left), valuesOf(right)))
}

/** The pair in the file of pairs; -1 without one. */
export function findPair({ pairs }: FileRun, [one, other]: RecordRows): number {
  const { lefts, rights, length } = pairs
  for (let pair = 0; pair < length; pair++) {
    const [left, right] = [lefts[pair], rights[pair]]
    if ((left === one && right === other) || (left === other && right === one)) return pair
  }
  return -1
}
