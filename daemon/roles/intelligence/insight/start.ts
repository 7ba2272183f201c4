// Starts the investigation: linked signals that are not further yet go with it.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { isRefused } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { uidInput } from '../fields.ts'
import { deedOf } from '../signal/change.ts'
import { signals } from '../signal/model.ts'
import { similarTo } from '../similar/find.ts'
import { type SimilarSignal, similarSignal, usual_limit, usual_score, usual_window_days } from '../similar/model.ts'
import { changeInsight } from './change.ts'
import { insight, insights } from './model.ts'
import { insightPaths } from './paths.ts'
import { started } from './rules.ts'
import { shown } from './view.ts'

export const start = operation({
  ...insightPaths('/{uid}/start'),
  summary: 'Start the investigation of an insight; its linked signals follow',
  method: 'POST',
  tool: 'insight_start_investigation',
  input: uidInput,
  output: insight
    .extend({
      similar_signals: z
        .array(similarSignal)
        .meta({ description: 'Open signals like the one it began with that are not linked to it, at its start' }),
    })
    .meta({ id: 'StartedInsight' }),
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'intelligence:review',
  versioned: true,

  async run(call, { uid }) {
    // Before: what cannot be found now must not make a start that was made look like none.
    const similar_signals = await notLinked(call, uid)
    const done = await changeInsight(call, uid, {}, (current) => started(current, deedOf(call)))
    return isRefused(done) ? done : { ...shown(done), similar_signals }
  },
})

async function notLinked(call: Call, uid: string): Promise<SimilarSignal[]> {
  const insight = await call.store(insights).find(uid)
  const trigger = insight && (await call.store(signals).find(insight.value.entry_context.trigger))
  if (!insight || !trigger) return []
  const linked = new Set(insight.value.links.map(({ signal_id }) => signal_id))
  // Any number of those that are most like it may be linked already.
  const limit = usual_limit + linked.size
  const wish = { only_open: true, window_days: usual_window_days, min_score: usual_score, limit }
  const found = await similarTo(call, trigger, wish)
  return found.filter(({ signal }) => !linked.has(signal.uid)).slice(0, usual_limit)
}
