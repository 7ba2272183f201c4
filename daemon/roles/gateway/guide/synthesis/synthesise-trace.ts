// One synthesis by the model of the layer: from its trigger to what is committed. Whatever the model does, it never throws.
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { escapeLine } from '../../../../kernel/text/escape-line.ts'
import { isAboveCeiling } from '../../chat/rules.ts'
import { guideModelPart } from '../chat/parts.ts'
import { isPaused } from '../curator/check-paused.ts'
import { guideSettings } from '../settings.ts'
import { buildPrompt } from './build-prompt.ts'
import { commitAnswer } from './commit-answer.ts'
import { loadInputs } from './load-inputs.ts'
import { describeAnswer } from './model-answer.ts'
import { synthesisPart } from './parts.ts'
import { readAnswer, type SynthesisAnswer } from './read-answer.ts'
import { requestModel } from './request-model.ts'
import type { SynthesisResult, WaitingSynthesis } from './synthesis-queue.ts'

export async function synthesiseTrace(call: Call, synthesis: WaitingSynthesis): Promise<SynthesisResult> {
  const { trace_id, trigger } = synthesis
  try {
    return await perform(call, synthesis)
  } catch (error) {
    const isTimeout = isRefusal(error) && error.code === 'timeout'
    // Without any text of the model, and without that of an observation.
    call.log.warn('gateway.guide.synthesis.failed', {
      trace_id,
      trigger,
      ...(isRefusal(error) ? { code: error.code } : { error }),
    })
    const why = isTimeout
      ? 'The model has not answered in time'
      : 'The model could not be used, or the store has failed'
    return without(isTimeout ? 'timeout' : 'failed', `${why}: see the log of the site.`)
  }
}

async function perform(call: Call, synthesis: WaitingSynthesis): Promise<SynthesisResult> {
  const { own } = call.part(guideModelPart)
  const { scope, trace_id, event, trigger, resolve } = synthesis
  const { model_label_ceiling, synthesis_prompt_characters } = call.settings(guideSettings)
  if (!own) return without('failed', 'The guidance layer of this site has no model.')
  if (await isPaused(call, scope.tenant_id))
    return without('paused', 'The curator is paused: nothing is learnt until it is resumed.')
  if (scope.label && isAboveCeiling(scope.label, call.site.labels.levels, model_label_ceiling))
    return without(
      'above_ceiling',
      'The observations are above the level that the model may have (guide.model_label_ceiling).',
    )
  const inputs = await loadInputs(call, synthesis)
  const prior = call.part(synthesisPart).priorOf(synthesis)
  const messages = buildPrompt(
    { ...inputs, event, prior, needsReply: resolve !== undefined },
    synthesis_prompt_characters,
  )
  const answer_schema = describeAnswer({
    artifact_ids: inputs.shown.map(({ id }) => id),
    hasFlagged: inputs.shown.some(({ value }) => value.is_flagged),
    ...{ hasCalls: inputs.trace.calls.length > 0, hasEdges: inputs.edges.length > 0 },
  })
  const answer = readAnswer(await requestModel(call, own, { messages, answer_schema }))
  if (!answer) {
    call.log.warn('gateway.guide.synthesis.unusable', { trace_id, trigger })
    return without('unusable', 'The answer of the model cannot be used: nothing was changed.')
  }
  const { active, graph, traces, shown } = inputs
  const { error: _, tool: __, ...source } = event.payload
  const { confidence } = answer
  const changes = await commitAnswer(
    {
      ...{ call, scope, graph, traces, active, confidence, source: JSON.stringify(source) },
      shown: new Map(shown.map((doc) => [doc.id, doc])),
    },
    answer,
  )
  const isChanged = changes.some((change) => !change.endsWith('refused'))
  return { outcome: isChanged ? 'changed' : 'unchanged', reply: formatReply(answer), confidence, changes }
}

const without = (outcome: SynthesisResult['outcome'], reply: string): SynthesisResult => ({
  outcome,
  reply,
  changes: [],
})

/** Lines stay; characters that mislead become escapes. */
function formatReply({ reply }: SynthesisAnswer): string {
  return reply.split('\n').map(escapeLine).join('\n')
}
