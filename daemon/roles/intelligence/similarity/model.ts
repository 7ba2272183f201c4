// Similarity of two signals: points with their reasons, and the parameters of a search.
import * as z from 'zod'
import { signal } from '../signal/model.ts'

const similarityReason = z
  .strictObject({
    reason: z.enum(['same_subject', 'related', 'same_type', 'same_source', 'words', 'near_in_time']),
    points: z.number().min(0).max(40),
    detail: z.string(),
  })
  .meta({ id: 'SimilarityReason' })
export type SimilarityReason = z.infer<typeof similarityReason>

export const similarSignal = z
  .strictObject({
    signal,
    score: z.number().min(0).max(100).meta({ description: 'The sum of the points' }),
    reasons: z.array(similarityReason),
  })
  .meta({ id: 'SimilarSignal' })
export type SimilarSignal = z.infer<typeof similarSignal>

/** Default largest distance in detection time, in days. */
export const default_window_days = 30
/** Default lowest score: type and time alone do not reach it. */
export const default_min_score = 30
export const default_limit = 10
