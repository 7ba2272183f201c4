// Signals that are like one: to be looked at before an investigation of it starts.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { uidInput } from '../fields.ts'
import { signals } from '../signal/model.ts'
import { similarTo } from './find.ts'
import { similarSignal, usual_limit, usual_score, usual_window_days } from './model.ts'

const [path = '', ...also] = ownedPaths('signal', '/{uid}/similar')

export const similar = operation({
  summary: 'List signals like this one, the most similar first, each with its score and the reasons for it',
  method: 'GET',
  path,
  also,
  tool: 'signal_similar',
  input: uidInput.extend({
    limit: z.int().min(1).max(50).default(usual_limit),
    only_open: z.boolean().default(false).meta({ description: 'Without those that are resolved or dismissed' }),
    window_days: z
      .int()
      .min(1)
      .max(365)
      .default(usual_window_days)
      .meta({ description: 'Days before and after within which another is near in time' }),
    min_score: z.number().min(1).max(100).default(usual_score),
  }),
  output: z.strictObject({ items: z.array(similarSignal) }).meta({ id: 'SimilarSignals' }),
  errors: ['not_found'],
  allow: 'intelligence:read',

  async run(call, { uid, ...wish }) {
    return { items: await similarTo(call, await call.store(signals).get(uid), wish) }
  },
})
