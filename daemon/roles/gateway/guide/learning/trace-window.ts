// The newest traces of one tenant and label, from which guidance is mined: old behaviour goes by itself.

import { ChangeDetector, type RateChange } from '../drift/change-detector.ts'
import type { GraphScope } from '../graph/rules.ts'
import type { TraceRecord } from './trace-record.ts'

const max_traces = 1_000
const max_detectors = 500

export type ToolChange = RateChange & { readonly tool: string }

export class TraceWindow {
  readonly scope: GraphScope
  /** Of the newest mining. */
  mined_ms = Number.NEGATIVE_INFINITY
  hasNews = false
  readonly #traces = new Map<string, TraceRecord>()
  readonly #detectors = new Map<string, ChangeDetector>()

  constructor(scope: GraphScope) {
    this.scope = scope
  }

  get size(): number {
    return this.#traces.size
  }

  get traces(): readonly TraceRecord[] {
    return [...this.#traces.values()]
  }

  /** Returns the changes of tools that its calls prove. One that is added again, with later events, takes the place of itself. */
  add(trace: TraceRecord): ToolChange[] {
    const before = this.#traces.get(trace.trace_id)
    this.#traces.delete(trace.trace_id)
    this.#traces.set(trace.trace_id, trace)
    this.hasNews = true
    if (this.#traces.size > max_traces) this.#dropOldest()
    return trace.calls.slice(before?.calls.length ?? 0).flatMap(({ tool, isFailure }) => {
      const change = this.#detectorOf(tool)?.add(!isFailure)
      return change ? [{ ...change, tool }] : []
    })
  }

  /** Of the caller with the most traces: a flood displaces its own, and not those of others. */
  #dropOldest(): void {
    const counts = new Map<string, number>()
    for (const { caller } of this.#traces.values()) counts.set(caller, (counts.get(caller) ?? 0) + 1)
    const most = Math.max(...counts.values())
    for (const { trace_id, caller } of this.#traces.values())
      if (counts.get(caller) === most) return void this.#traces.delete(trace_id)
  }

  #detectorOf(tool: string): ChangeDetector | undefined {
    const known = this.#detectors.get(tool)
    if (known || this.#detectors.size >= max_detectors) return known
    const first = new ChangeDetector()
    this.#detectors.set(tool, first)
    return first
  }
}
