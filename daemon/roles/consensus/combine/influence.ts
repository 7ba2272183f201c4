// Measures the influence of each contributor: the result without that contributor.
import * as z from 'zod'
import { fraction } from '../fields.ts'
import type { Combination } from './combination.ts'
import { combineSorted } from './combine.ts'
import type { Opinion } from './opinion.ts'

const difference = z.number().min(-1).max(1)

export const influence = z.strictObject({
  contributor_id: z.string(),
  score_without: fraction.nullable(),
  score_change: difference.nullable().meta({ description: 'score_without minus score; null where either is missing' }),
  conflict_without: fraction,
  conflict_change: difference.meta({ description: 'conflict_without minus conflict' }),
})

export type Influence = z.output<typeof influence>

/** Combines again without the contributor: removing a source arithmetically would not give bit-identical results. */
export function influenceOf(whole: Combination, named: readonly Opinion[], at: number): Influence {
  const { score, conflict } = whole
  const without = combineSorted(whole.method, named.toSpliced(at, 1))
  return {
    contributor_id: named[at]?.contributor_id ?? '',
    score_without: without.score,
    score_change: without.score === null || score === null ? null : without.score - score,
    conflict_without: without.conflict,
    conflict_change: without.conflict - conflict,
  }
}
