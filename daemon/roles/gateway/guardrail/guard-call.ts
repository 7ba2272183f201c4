// Holds a call to the guardrails of the site: a refusal that names the guardrail, or the limits under which the call goes on.
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, Refusal, refuse } from '../../../kernel/error/errors.ts'
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

/** Longer than the counters may take for all guardrails of a call. */
const ending_window_ms = 10_000

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

/** A refused call uses nothing up: the turns that it has taken of other guardrails are given back. */
async function takeTurns(
  increment: KeyValue['increment'],
  counts: readonly GuardrailCount[],
  call: GuardedCall,
): Promise<Refusal | undefined> {
  const taken: TakenTurn[] = []
  for (const count of counts) {
    const turn = await takeTurn(increment, count, call)
    if (isRefusal(turn)) {
      await Promise.all(taken.map((each) => giveBack(increment, each)))
      return turn
    }
    taken.push(turn)
  }
  return undefined
}

type TakenTurn = { readonly key: string; readonly window_ms: number; readonly left_ms: number }

async function takeTurn(
  increment: KeyValue['increment'],
  { guardrail, reason, limit, window_ms }: GuardrailCount,
  { tenant_id, subject }: GuardedCall,
): Promise<TakenTurn | Refusal> {
  const key = countKey({ guardrail, reason }, { tenant_id, subject })
  try {
    const { count, left_ms } = await increment(key, 1, window_ms)
    if (count <= limit) return { key, window_ms, left_ms }
    return new GuardrailRefusal({ guardrail, reason }, Math.ceil(left_ms / 1_000), count === limit + 1)
  } catch {
    return refuse('unavailable', 'calls cannot be counted at present')
  }
}

/** A turn of a window that is about to end is lost with it: it must not be given back to the next one. */
async function giveBack(increment: KeyValue['increment'], { key, window_ms, left_ms }: TakenTurn): Promise<void> {
  if (left_ms > ending_window_ms) await increment(key, -1, window_ms).catch(() => undefined)
}

/** Of a count, the calls that went on: it counts those beyond its limit too, so that the first of them is known. */
export function usedOf(count: number, { limit }: Pick<GuardrailCount, 'limit'>): number {
  return Math.min(count, limit)
}

/** Of the calls of one caller that a guardrail counts. */
export function countKey(
  { guardrail, reason }: Pick<GuardrailCount, 'guardrail' | 'reason'>,
  caller: Pick<GuardedCall, 'tenant_id' | 'subject'>,
): string {
  return `guardrail:${guardrail}:${reason}:${sha256(callerKey(caller))}`
}
