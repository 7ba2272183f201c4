// Starts the investigation of an insight and of its linked signals.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { attributeAction } from '../signal/change-signal.ts'
import { signals } from '../signal/model.ts'
import { findSimilarSignals } from '../similarity/find-similar-signals.ts'
import {
  default_limit,
  default_min_score,
  default_window_days,
  type SimilarSignal,
  similarSignal,
} from '../similarity/model.ts'
import { changeInsight } from './change-insight.ts'
import { insight, insights } from './model.ts'
import { startInvestigation } from './rules.ts'
import { showInsight } from './view.ts'

export const start = operation({
  ...objectPaths('insight', '/{uid}/start'),
  summary: 'Start the investigation of an insight and its linked signals',
  method: 'POST',
  tool: 'insight_start_investigation',
  input: uidInput,
  output: insight
    .extend({
      similar_signals: z
        .array(similarSignal)
        .meta({ description: 'Open signals similar to the trigger and not linked, at the start' }),
    })
    .meta({ id: 'StartedInsight' }),
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'intelligence:review',
  versioned: true,

  async run(call, { uid }) {
    // Searched before the start, so that a failing search cannot hide a completed start.
    const similar_signals = await findUnlinkedSimilar(call, uid)
    const started = await changeInsight(call, uid, {}, (current) => startInvestigation(current, attributeAction(call)))
    return isRefusal(started) ? started : { ...showInsight(started), similar_signals }
  },
})

async function findUnlinkedSimilar(call: Call, uid: string): Promise<SimilarSignal[]> {
  const insight = await call.store(insights).find(uid)
  const trigger = insight && (await call.store(signals).find(insight.value.entry_context.trigger))
  if (!insight || !trigger) return []
  const linked = new Set(insight.value.links.map(({ signal_id }) => signal_id))
  // The most similar signals may be linked already.
  const limit = default_limit + linked.size
  const query = { only_open: true, window_days: default_window_days, min_score: default_min_score, limit }
  const similar = await findSimilarSignals(call, trigger, query)
  return similar.filter(({ signal }) => !linked.has(signal.uid)).slice(0, default_limit)
}
