// The result of combining opinions: one schema for both methods, the record and the API.
import * as z from 'zod'
import { combinationMethod } from '../../../shared/quorum-policy/quorum-policy.ts'
import { fraction } from '../fields.ts'

/** Strict, like every stored or returned schema. */
export const combination = z.strictObject({
  method: combinationMethod,
  score: fraction.nullable().meta({ description: 'Combined score for a match; null where the opinions allow none' }),
  conflict: fraction.meta({
    description: 'Weighted disagreement of the scores: 0 for agreement, 1 for two equal camps at the extremes',
  }),
  total_weight: z.number().min(0).meta({ description: 'Sum of accuracy x credibility' }),
  belief: fraction
    .nullable()
    .optional()
    .meta({ description: 'dempster_shafer: lower bound of the probability of a match' }),
  plausibility: fraction
    .nullable()
    .optional()
    .meta({ description: 'dempster_shafer: upper bound of the probability of a match' }),
  K: fraction.optional().meta({ description: 'dempster_shafer: global conflict mass; 1 only in total conflict' }),
  reason: z.enum(['total_conflict', 'no_weight']).optional().meta({ description: 'Reason for a missing score' }),
})
export type Combination = z.output<typeof combination>
