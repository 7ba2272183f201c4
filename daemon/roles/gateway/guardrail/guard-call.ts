// Holds a call to the guardrails of the site: a refusal that names the guardrail, or the limits under which the call goes on.
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { Refusal, refuse } from '../../../kernel/error/errors.ts'
import { part } from '../../../kernel/role/part.ts'
import type { KeyValue } from '../../../kernel/store/key-value.ts'
import { callerKey } from '../caller-key.ts'
import type { CallMeter } from '../quota/call-meter.ts'
import type { GuardedCall } from './model.ts'
import {
  type GuardrailCount,
  type GuardrailDenial,
  type GuardrailLimits,
  type GuardrailReason,
  type GuardrailSet,
  judgeCall,
} from './rules.ts'

export type Guardrails = GuardrailSet & {
  /** Counts of callers, which all processes of the gateway share. */
  readonly increment: KeyValue['increment']
  readonly meter: CallMeter
}

export const guardrailsPart = part<Guardrails>('guardrails')

/** The refusal of a call by a guardrail, for its audit record and its metric. */
export class GuardrailRefusal extends Refusal {
  readonly denial: GuardrailDenial
  /** Of a rate, the first in its window alone: callers could fill the audit log. */
  readonly isRecorded: boolean

  constructor(denial: GuardrailDenial, retry_after_s?: number, isRecorded = true) {
    const { code, detail } = refusals[denial.reason]
    super(code, `the guardrail ${denial.guardrail} refuses this call: ${detail}`, [], retry_after_s)
    this.denial = denial
    this.isRecorded = isRecorded
  }
}

/** Why a guardrail refuses a call, for people. */
export function describeReason(reason: GuardrailReason): string {
  return refusals[reason].detail
}

const refusals: Readonly<Record<GuardrailReason, { readonly code: Refusal['code']; readonly detail: string }>> = {
  denied: { code: 'forbidden', detail: 'it is not allowed' },
  label: { code: 'forbidden', detail: 'the caller is cleared for data above its ceiling' },
  pattern: { code: 'forbidden', detail: 'it contains text that is not allowed' },
  too_much_text: { code: 'too_large', detail: 'it has more text than can be searched' },
  too_large: { code: 'too_large', detail: 'its body is too large' },
  rate: { code: 'rate_limited', detail: 'the caller has made as many calls as it may in a minute' },
  quota: { code: 'rate_limited', detail: 'the caller has made as many calls as it may in a day' },
}

/** Counts the call, unless it is refused before. Without the counters a call that must be counted is refused. */
export async function guardCall(guardrails: Guardrails, call: GuardedCall): Promise<GuardrailLimits | Refusal> {
  const verdict = judgeCall(guardrails, call)
  if ('denial' in verdict) {
    guardrails.meter.note(call, [], 'refused')
    return new GuardrailRefusal(verdict.denial)
  }
  const { limits } = verdict
  const refusal = await takeTurns(guardrails.increment, limits.counts, call)
  guardrails.meter.note(call, limits.counts, refusal ? 'refused' : 'passed')
  return refusal ?? limits
}

async function takeTurns(
  increment: KeyValue['increment'],
  counts: readonly GuardrailCount[],
  call: GuardedCall,
): Promise<Refusal | undefined> {
  for (const count of counts) {
    const refusal = await takeTurn(increment, count, call)
    if (refusal) return refusal
  }
  return undefined
}

async function takeTurn(
  increment: KeyValue['increment'],
  { guardrail, reason, limit, window_ms }: GuardrailCount,
  { tenant_id, subject }: GuardedCall,
): Promise<Refusal | undefined> {
  try {
    const { count, left_ms } = await increment(countKey({ guardrail, reason }, { tenant_id, subject }), 1, window_ms)
    if (count <= limit) return undefined
    return new GuardrailRefusal({ guardrail, reason }, Math.ceil(left_ms / 1_000), count === limit + 1)
  } catch {
    return refuse('unavailable', 'calls cannot be counted at present')
  }
}

/** Of the calls of one caller that a guardrail counts. */
export function countKey(
  { guardrail, reason }: Pick<GuardrailCount, 'guardrail' | 'reason'>,
  caller: Pick<GuardedCall, 'tenant_id' | 'subject'>,
): string {
  return `guardrail:${guardrail}:${reason}:${sha256(callerKey(caller))}`
}
