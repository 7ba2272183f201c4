// Holds the call of a tool, and the read of a resource, to the guardrails of the site.
import type { Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { GuardrailRefusal, guardCall, guardrailsPart } from '../guardrail/guard-call.ts'
import type { GuardedCall } from '../guardrail/model.ts'
import { recordDenial } from '../guardrail/record-denial.ts'
import type { GuardrailLimits } from '../guardrail/rules.ts'

/** `tool`: as the gateway offers it. */
type GuardedUse = Pick<GuardedCall, 'kind' | 'service' | 'tool' | 'body_bytes' | 'texts'>

export async function guardUse(call: Call, use: GuardedUse): Promise<GuardrailLimits | Refusal> {
  const { tenant_id, subject, roles, clearance } = call.caller
  const caller = { tenant_id, subject, roles, level: clearance?.level }
  const limits = await guardCall(call.part(guardrailsPart), { ...caller, ...use })
  if (limits instanceof GuardrailRefusal) await recordDenial(call, limits, { kind: use.kind, target: use.tool ?? '' })
  return limits
}
