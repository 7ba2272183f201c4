// Report of a thread to the main thread: counter increments, and the last observation of each dependency.

/** Name of a counter of the role, the values of its labels in order, and the increment since the last report. */
export type CounterDelta = readonly [metric: string, labels: readonly string[], by: number]

/** Dependencies besides the counters. They are observed through callers' requests alone, never probed. */
export type ProxyDependency = 'upstream' | 'token endpoint'
/** Result of the last request to a dependency. `at`: epoch milliseconds. */
export type DependencyObservation = {
  readonly ok: boolean
  readonly detail: string
  readonly latency_ms: number
  readonly at: number
}
export type DependencyObservations = Readonly<Partial<Record<ProxyDependency, DependencyObservation>>>
