// Messages between the main thread and the serving threads of the proxy.
import type { CounterValue } from '../../../kernel/store/key-value.ts'
import type { TraceSpan } from '../../../kernel/telemetry/spans.ts'
import type { ProxyServiceEndpoint } from '../../../roles/proxy/serving/request-dispatcher.ts'
import type { CounterDelta, DependencyObservations } from '../../../roles/proxy/serving/thread-report.ts'

/** An increment of a counter: key, amount, and lifetime of a new counter. */
export type CounterIncrement = readonly [key: string, by: number, life_ms: number]

/** `config`: the configuration of the thread, copied completely. */
export type MessageToThread<C> =
  | { readonly kind: 'configure'; readonly id: number; readonly config: C }
  /** One count for each increment, in order; undefined for a failed one. */
  | { readonly kind: 'counted'; readonly id: number; readonly counts: readonly (CounterValue | undefined)[] }
  | { readonly kind: 'service_response'; readonly id: number; readonly status: number; readonly body: string }
  | { readonly kind: 'report'; readonly id: number }
  /** Whether the journal of audit lines is full. */
  | { readonly kind: 'journal'; readonly isFull: boolean }
  | { readonly kind: 'drain'; readonly drain_ms: number }

/** Current status of one thread. */
export type ThreadStatus = {
  readonly connections: number
  readonly cache_bytes: number
  readonly cache_entries: number
}

export type MessageFromThread =
  | { readonly kind: 'listening'; readonly host: string; readonly port: number }
  | { readonly kind: 'configured'; readonly id: number }
  | { readonly kind: 'count'; readonly id: number; readonly steps: readonly CounterIncrement[] }
  | { readonly kind: 'service_request'; readonly id: number; readonly endpoint: ProxyServiceEndpoint }
  | {
      readonly kind: 'reported'
      readonly id: number
      readonly deltas: readonly CounterDelta[]
      readonly status: ThreadStatus
      readonly observations: DependencyObservations
      /** Ended since the last report. */
      readonly spans: readonly TraceSpan[]
    }
  | {
      readonly kind: 'log'
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      readonly event: string
      readonly fields: Readonly<Record<string, unknown>>
    }
