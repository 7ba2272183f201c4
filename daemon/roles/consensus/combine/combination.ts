// What any combiner says about a set of opinions: one shape for both methods, the record and the interface.
import * as z from 'zod'
import { combinationMethod } from '../../../shared/quorum-policy/quorum-policy.ts'
import { fraction } from '../fields.ts'

/** Strict, as all that is stored or shown. */
export const combination = z.strictObject({
  method: combinationMethod,
  score: fraction.nullable().meta({ description: 'Combined score for a match; null where the opinions leave none' }),
  conflict: fraction.meta({
    description: 'Weighted disagreement of the scores: 0 agreed, 1 two equal camps at the extremes',
  }),
  total_weight: z.number().min(0).meta({ description: 'Sum of accuracy x credibility' }),
  belief: fraction.nullable().optional().meta({ description: 'dempster_shafer: what must be granted to a match' }),
  plausibility: fraction.nullable().optional().meta({ description: 'dempster_shafer: what may be granted to a match' }),
  K: fraction.optional().meta({ description: 'dempster_shafer: global conflict mass; 1 only in total conflict' }),
  reason: z.enum(['total_conflict', 'no_weight']).optional().meta({ description: 'Why there is no score' }),
})
export type Combination = z.output<typeof combination>
