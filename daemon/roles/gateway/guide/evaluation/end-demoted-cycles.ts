// Counts evaluation cycles of demoted artifacts, which are forgotten after some of them.
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { artifacts } from '../artifact/model.ts'
import { endDemotedCycle } from '../artifact/persist-score.ts'
import type { Learner } from '../learning/learner.ts'
import { guideSettings } from '../settings.ts'
import { readWeights } from './weights.ts'

/** A cycle lasts as long, so that an administrator can look at what was demoted. */
const cycle_ms = 3_600_000
const max_demoted = 500

export async function endDemotedCycles(call: Call, learner: Learner): Promise<void> {
  const now = call.now()
  learner.cycle_ms ??= now
  if (now - learner.cycle_ms < cycle_ms) return
  learner.cycle_ms = now
  const settings = call.settings(guideSettings)
  const { l3_error, l3_schema_mismatch, user_feedback, evaluator_confidence } = readWeights(settings)
  const weights = { l3_error, schema_mismatch: l3_schema_mismatch, user_feedback, confidence: evaluator_confidence }
  const terms = { weights, fast_cycles: settings.evaluator_l3_fast_demote_n }
  const { docs } = await call.store(artifacts).list({ filter: { status: 'demoted' }, limit: max_demoted })
  for (const { id } of docs) {
    const ground = { actor: 'evaluator_auto', trigger: 'evaluator_score_below_threshold' } as const
    const ended = await endDemotedCycle(call, id, terms, ground)
    if (isRefusal(ended)) call.log.info('gateway.guide.forget_refused', { artifact_id: id, code: ended.code })
  }
}
