// Syntheses by the model that wait in this process: one for each trace, the latest trigger of it, within bounds and a budget.
import type { Doc } from '../../../../kernel/store/store.ts'
import { type GraphScope, scopeKey } from '../graph/rules.ts'
import type { EventType, StoredObservation } from '../observation/model.ts'
import type { ObservationLearner } from '../observation/parts.ts'

export const synthesisTriggers = ['l1_request', 'l3_output', 'admin_chat', 'learn'] as const
export type SynthesisTrigger = (typeof synthesisTriggers)[number]

/** Document 002, "Synthesis triggers". `llm_turn` feeds the graphs alone, and feedback the evaluator. */
export const triggerOf: Partial<Record<EventType, SynthesisTrigger>> = {
  intent_schema: 'l1_request',
  user_prompt: 'l1_request',
  tool_output: 'l3_output',
  tool_error: 'l3_output',
  final_response: 'l3_output',
}

/** After the end of a turn nothing more is awaited; after another event, its successors within this time take its place. */
export const settle_ms = 5_000
const max_waiting = 1_000
/** Of one tenant: its oldest one makes room, so that a busy tenant drops its own. */
const max_of_tenant = 100
const max_traces = 1_000
const hour_ms = 3_600_000

export type WaitingSynthesis = {
  readonly scope: GraphScope
  readonly trace_id: string
  readonly trigger: SynthesisTrigger
  readonly event: SynthesisEvent
  readonly settled_ms: number
  /** Gets the result; for the request of an administrator, which waits for it. */
  readonly resolve?: (result: SynthesisResult) => void
}

export type RequestedSynthesis = WaitingSynthesis & Required<Pick<WaitingSynthesis, 'resolve'>>

/** The triggering observation, or the message of an administrator. */
export type SynthesisEvent = {
  readonly event_type: string
  readonly service: string
  readonly payload: Readonly<Record<string, unknown>>
}

export const synthesisOutcomes = [
  'changed',
  'unchanged',
  'paused',
  'above_ceiling',
  'unusable',
  'failed',
  'timeout',
] as const
export type SynthesisOutcome = (typeof synthesisOutcomes)[number]
/** `changes`: such as `demote committed`. */
export type SynthesisResult = {
  readonly outcome: SynthesisOutcome
  readonly reply: string
  readonly confidence?: number
  readonly changes: readonly string[]
}

export class SynthesisQueue implements ObservationLearner {
  /** Since they were counted last. */
  dropped = 0
  readonly #max_per_hour: number
  /** By tenant, each in the order of arrival. */
  readonly #waiting = new Map<string, Map<string, WaitingSynthesis>>()
  readonly #requests: WaitingSynthesis[] = []
  readonly #running = new Set<string>()
  readonly #budgets = new Map<string, { left: number; at: number }>()
  readonly #priors = new Map<string, SynthesisResult>()
  #size = 0
  #requested = Promise.withResolvers<void>()

  constructor(max_per_hour: number) {
    this.#max_per_hour = max_per_hour
  }

  onStored(batch: readonly Doc<StoredObservation>[]): void {
    for (const { value } of batch) {
      const { event_type, service, payload, trace_id, tenant_id, label, create_ts } = value
      const trigger = triggerOf[event_type]
      if (trigger === undefined) continue
      const settled_ms = event_type === 'final_response' ? create_ts : create_ts + settle_ms
      const event = { event_type, service, payload }
      this.offer({ scope: { tenant_id, label }, trace_id, trigger, event, settled_ms })
    }
  }

  /** A later trigger of the same trace takes the place of one that waits. */
  offer(synthesis: WaitingSynthesis): void {
    const { tenant_id } = synthesis.scope
    const ofTenant = this.#waiting.get(tenant_id) ?? new Map<string, WaitingSynthesis>()
    this.#remove(ofTenant, keyOf(synthesis))
    const [oldest] = ofTenant.keys()
    if (oldest !== undefined && ofTenant.size >= max_of_tenant) {
      this.#remove(ofTenant, oldest)
      this.dropped += 1
    }
    if (this.#size >= max_waiting) {
      this.dropped += 1
      return
    }
    ofTenant.set(keyOf(synthesis), synthesis)
    this.#waiting.set(tenant_id, ofTenant)
    this.#size += 1
  }

  /** For an administrator, before all others and beside the budget. False: too many wait. */
  request(synthesis: RequestedSynthesis): boolean {
    if (this.#requests.length >= max_of_tenant) return false
    this.#requests.push(synthesis)
    this.#requested.resolve()
    this.#requested = Promise.withResolvers<void>()
    return true
  }

  /** Resolves when an administrator requests a further one. */
  get nextRequest(): Promise<void> {
    return this.#requested.promise
  }

  /** The next one to perform, which counts as running until it is ended. Two of one trace never run at once. */
  take(now: number): WaitingSynthesis | undefined {
    const at = this.#requests.findIndex((each) => this.#isFree(each))
    const [requested] = at === -1 ? [] : this.#requests.splice(at, 1)
    const taken = requested ?? this.#takeWaiting(now)
    if (taken) this.#running.add(keyOf(taken))
    return taken
  }

  end(synthesis: WaitingSynthesis, result: SynthesisResult): void {
    const key = keyOf(synthesis)
    this.#running.delete(key)
    this.#priors.delete(key)
    this.#priors.set(key, result)
    const [oldest] = this.#priors.keys()
    if (this.#priors.size > max_traces && oldest !== undefined) this.#priors.delete(oldest)
    synthesis.resolve?.(result)
  }

  /** The result of an earlier synthesis of the same trace. */
  priorOf(synthesis: WaitingSynthesis): SynthesisResult | undefined {
    return this.#priors.get(keyOf(synthesis))
  }

  /** Takes one request of the model from the budget of the tenant; false: none is left. */
  spend(tenant_id: string, now: number): boolean {
    const { left, at } = this.#budgets.get(tenant_id) ?? { left: this.#max_per_hour, at: now }
    const filled = Math.min(this.#max_per_hour, left + (Math.max(0, now - at) / hour_ms) * this.#max_per_hour)
    const isEnough = filled >= 1
    this.#budgets.set(tenant_id, { left: isEnough ? filled - 1 : filled, at: now })
    return isEnough
  }

  /** The tenant that gets its turn waits behind the others for its next one. */
  #takeWaiting(now: number): WaitingSynthesis | undefined {
    for (const [tenant_id, ofTenant] of this.#waiting) {
      const next = [...ofTenant].find(([, each]) => each.settled_ms <= now && this.#isFree(each))
      if (!next || !this.spend(tenant_id, now)) continue
      this.#waiting.delete(tenant_id)
      this.#remove(ofTenant, next[0])
      if (ofTenant.size > 0) this.#waiting.set(tenant_id, ofTenant)
      return next[1]
    }
    return undefined
  }

  #isFree(synthesis: WaitingSynthesis): boolean {
    return !this.#running.has(keyOf(synthesis))
  }

  #remove(ofTenant: Map<string, WaitingSynthesis>, key: string): void {
    if (ofTenant.delete(key)) this.#size -= 1
  }
}

function keyOf({ scope, trace_id }: Pick<WaitingSynthesis, 'scope' | 'trace_id'>): string {
  return `${scopeKey(scope)} ${trace_id}`
}
