// Holds the call of a tool to the guardrails of the site.
import type { Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { UntrustedObject } from '../../../kernel/tools/tool-service.ts'
import { collectTexts } from '../guardrail/collect-texts.ts'
import { GuardrailRefusal, guardCall, guardrailsPart } from '../guardrail/guard-call.ts'
import { recordDenial } from '../guardrail/record-denial.ts'
import type { GuardrailLimits } from '../guardrail/rules.ts'

/** `name`: as the gateway offers the tool. */
export async function guardTool(
  call: Call,
  { service, name }: { readonly service: string; readonly name: string },
  input: UntrustedObject,
): Promise<GuardrailLimits | Refusal> {
  const { tenant_id, subject, roles, clearance } = call.caller
  // Input that a client gives while the tool runs goes to its service like the rest.
  const { responses } = call.client?.continuation ?? {}
  const sent = responses ? [input, responses] : input
  const limits = await guardCall(call.part(guardrailsPart), {
    ...{ kind: 'tool', tenant_id, subject, roles, level: clearance?.level, service, tool: name },
    body_bytes: Buffer.byteLength(JSON.stringify(sent)),
    texts: collectTexts(sent),
  })
  if (limits instanceof GuardrailRefusal) await recordDenial(call, limits, { kind: 'tool', target: name })
  return limits
}
