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
export function influenceOf(
  whole: Pick<Combination, 'method' | 'score' | 'conflict'>,
  opinions: readonly Opinion[],
  index: number,
): Influence {
  const { score, conflict } = whole
  const remaining = combineSorted(whole.method, opinions.toSpliced(index, 1))
  return {
    contributor_id: opinions[index]?.contributor_id ?? '',
    score_without: remaining.score,
    score_change: remaining.score === null || score === null ? null : remaining.score - score,
    conflict_without: remaining.conflict,
    conflict_change: remaining.conflict - conflict,
  }
}
