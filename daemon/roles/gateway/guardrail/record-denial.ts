// Records that a guardrail has refused a call: one action for all kinds of calls, by which the audit log finds them.
import type { AuditEvent } from '../../../kernel/audit/audit-chain.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { guardrailDenialTotal } from '../metrics.ts'
import type { GuardrailRefusal } from './guard-call.ts'
import type { CallKind } from './model.ts'

export type DeniedCall = { readonly kind: CallKind; readonly target: string; readonly method?: string }

/** The parts of the record that do not depend on its caller. */
export function describeDenial({ code, denial }: GuardrailRefusal, { kind, target, method }: DeniedCall) {
  return {
    action: 'gateway.guardrail.denied',
    target,
    detail: { kind, code, ...(method === undefined ? {} : { method }), ...denial },
    outcome: 'refused',
  } satisfies Partial<AuditEvent>
}

/** The refusal stands, whether it can be recorded or not. */
export async function recordDenial(call: Call, refusal: GuardrailRefusal, denied: DeniedCall): Promise<void> {
  call.count(guardrailDenialTotal, refusal.denial)
  if (!refusal.isRecorded) return
  const { action, target, detail, outcome } = describeDenial(refusal, denied)
  await call.record([{ ...call.audited(action, target, detail), outcome }]).catch((error: unknown) => {
    call.log.error('gateway.guardrail.unrecorded', { trace_id: call.trace.trace_id, error: String(error) })
  })
}
