// The learning of one process: traces that wait to be read, the newest ones of each tenant and label, and assessments of artifacts.
import type { Doc } from '../../../../kernel/store/store.ts'
import type { ArtifactAssessment } from '../evaluation/assess-trace.ts'
import { type GraphScope, scopeKey } from '../graph/rules.ts'
import { HoldoutBook } from '../holdout/holdout-book.ts'
import type { EventType, StoredObservation } from '../observation/model.ts'
import type { ObservationLearner } from '../observation/parts.ts'
import { TraceWindow } from './trace-window.ts'

/** Events that trigger a synthesis (document 002); feedback concerns the evaluator. `llm_turn` feeds the graphs alone. */
const triggers: ReadonlySet<EventType> = new Set([
  ...(['intent_schema', 'user_prompt', 'tool_output', 'tool_error', 'final_response', 'user_feedback'] as const),
])
/** After these, nothing more of a trace is awaited. */
const endings: ReadonlySet<EventType> = new Set(['final_response', 'user_feedback'])
/** Calls of tools outside of a chat have no end: after as long without an event, theirs is assumed. */
const settle_ms = 30_000

const max_waiting = 10_000
const max_windows = 200
const max_assessments = 20_000

/** The worker that learns. */
export const learn_worker = 'learn-guidance'

export type WaitingTrace = { readonly scope: GraphScope; readonly trace_id: string; settled_ms: number }

export class Learner implements ObservationLearner {
  /** Of traces that were not read, since too many waited. */
  dropped = 0
  isRestored = false
  /** When the newest evaluation cycle of demoted artifacts began. */
  cycle_ms: number | undefined
  /** Tenants for which an administrator requests a synthesis. */
  readonly requested = new Set<string>()
  readonly holdout = new HoldoutBook()
  readonly assessments = new Map<string, ArtifactAssessment>()
  readonly #waiting = new Map<string, WaitingTrace>()
  readonly #windows = new Map<string, TraceWindow>()

  onStored(batch: readonly Doc<StoredObservation>[]): void {
    for (const { value } of batch) {
      const { event_type, trace_id, tenant_id, label, create_ts } = value
      if (!triggers.has(event_type)) continue
      const scope = { tenant_id, label }
      this.wait({ scope, trace_id, settled_ms: endings.has(event_type) ? create_ts : create_ts + settle_ms })
    }
  }

  /** Number of traces that wait. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Triggers of one trace are one: what is read later holds all that came before. */
  wait(trace: WaitingTrace): void {
    const key = `${scopeKey(trace.scope)} ${trace.trace_id}`
    this.#waiting.delete(key)
    if (this.#waiting.size >= max_waiting) {
      this.dropped += 1
      return
    }
    this.#waiting.set(key, trace)
  }

  takeSettled(now: number, most: number): WaitingTrace[] {
    const taken: WaitingTrace[] = []
    for (const [key, trace] of this.#waiting) {
      if (taken.length === most) break
      if (trace.settled_ms > now) continue
      this.#waiting.delete(key)
      taken.push(trace)
    }
    return taken
  }

  openWindow(scope: GraphScope): TraceWindow {
    const key = scopeKey(scope)
    const window = this.#windows.get(key) ?? new TraceWindow(scope)
    // The one that is used becomes the newest.
    this.#windows.delete(key)
    this.#windows.set(key, window)
    const [oldest] = this.#windows.keys()
    if (this.#windows.size > max_windows && oldest !== undefined) this.#windows.delete(oldest)
    return window
  }

  get windows(): readonly TraceWindow[] {
    return [...this.#windows.values()]
  }

  assess(artifact_id: string, assessment: ArtifactAssessment): void {
    this.assessments.delete(artifact_id)
    this.assessments.set(artifact_id, assessment)
    const [oldest] = this.assessments.keys()
    if (this.assessments.size > max_assessments && oldest !== undefined) this.assessments.delete(oldest)
  }
}
