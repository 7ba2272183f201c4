// Requests one answer of the layer's model, within the time limit of a synthesis; it ends with the process.
import type { ModelAnswerSchema, ModelMessage } from '../../../../kernel/model/chat-model.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { abortRefusal } from '../../../../kernel/operation/until-aborted.ts'
import { limitTime } from '../../chat/turn.ts'
import type { GuideModel } from '../chat/parts.ts'
import { guideSettings } from '../settings.ts'

export type ModelQuestion = {
  readonly messages: readonly ModelMessage[]
  readonly answer_schema: ModelAnswerSchema
}

/** The text, of which nothing is checked. Throws `Refusal`, of the endpoint or of the limit. */
export async function requestModel(
  call: Call,
  { model, name }: NonNullable<GuideModel>,
  question: ModelQuestion,
): Promise<string> {
  const { synthesis_timeout_s } = call.settings(guideSettings)
  const limit = limitTime(call, synthesis_timeout_s * 1_000)
  const { signal } = limit
  try {
    const parts = model.answer({ ...question, model: name, tools: [], mayCallTools: false, signal, trace: call.trace })
    for (;;) {
      const step = await parts.next()
      if (signal.aborted) throw abortRefusal(signal)
      if (step.done) return step.value.text
    }
  } finally {
    limit.end()
  }
}
