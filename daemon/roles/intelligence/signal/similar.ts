// Lists signals similar to one, for review before an investigation starts.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { findSimilarSignals } from '../similarity/find-similar-signals.ts'
import { default_limit, default_min_score, default_window_days, similarSignal } from '../similarity/model.ts'
import { signals } from './model.ts'

export const similar = operation({
  summary: 'List similar signals, the most similar first, each with its score and reasons',
  method: 'GET',
  ...objectPaths('signal', '/{uid}/similar'),
  tool: 'signal_similar',
  input: uidInput.extend({
    limit: z.int().min(1).max(50).default(default_limit),
    only_open: z.boolean().default(false).meta({ description: 'Leave out resolved and dismissed signals' }),
    window_days: z
      .int()
      .min(1)
      .max(365)
      .default(default_window_days)
      .meta({ description: 'Largest distance in detection time, in days before and after' }),
    min_score: z.number().min(1).max(100).default(default_min_score),
  }),
  output: z.strictObject({ items: z.array(similarSignal) }).meta({ id: 'SimilarSignals' }),
  errors: ['not_found'],
  allow: 'intelligence:read',

  async run(call, { uid, ...query }) {
    return { items: await findSimilarSignals(call, await call.store(signals).get(uid), query) }
  },
})
