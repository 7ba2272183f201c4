// Holds a message to the guardrails of the site.
import type { Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { collectTexts } from '../guardrail/collect-texts.ts'
import { GuardrailRefusal, guardCall, guardrailsPart } from '../guardrail/guard-call.ts'
import { recordDenial } from '../guardrail/record-denial.ts'
import type { GuardrailLimits } from '../guardrail/rules.ts'
import type { ChatRequest } from './model.ts'

export async function guardChat(call: Call, request: ChatRequest): Promise<GuardrailLimits | Refusal> {
  const { tenant_id, subject, roles, clearance } = call.caller
  const { message, intent_schema } = request
  const limits = await guardCall(call.part(guardrailsPart), {
    ...{ kind: 'chat', tenant_id, subject, roles, level: clearance?.level, service: undefined },
    body_bytes: Buffer.byteLength(JSON.stringify(request)),
    texts: [message, ...(intent_schema ? collectTexts(intent_schema) : [])],
  })
  if (limits instanceof GuardrailRefusal) {
    call.nameTarget({ id: request.conversation_id ?? '' })
    await recordDenial(call, limits, { kind: 'chat', target: 'chat' })
  }
  return limits
}
