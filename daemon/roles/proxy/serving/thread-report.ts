// Report of a thread to the main thread: counter increments, ended spans, and the last observation of each dependency.
import type { DependencyObservation } from '../../../kernel/role/dependency.ts'

/** Name of a counter of the role, the values of its labels in order, and the increment since the last report. */
export type CounterDelta = readonly [metric: string, labels: readonly string[], by: number]

/** What became of a span: taken by the exporter, beyond the rate, or without room in a queue. */
export const spanOutcomes = ['recorded', 'rate_limited', 'no_room'] as const
export type SpanOutcome = (typeof spanOutcomes)[number]

/** Dependencies besides the counters. They are observed through callers' requests alone, never probed. */
export type ProxyDependency = 'upstream' | 'token endpoint'
export type DependencyObservations = Readonly<Partial<Record<ProxyDependency, DependencyObservation>>>
