// Dependencies that a serving thread provides to each request.
import type { Upstream } from '../../../kernel/forward/upstream.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import type { PlatformOrigin } from '../platform-origin.ts'
import type { RequestRecorder } from './request-recorder.ts'
import type { RequestSpans } from './request-spans.ts'
import type { TokenProvider } from './token-provider.ts'
import type { WindowCounter } from './window-counter.ts'

export type ProxyRequestDependencies = {
  readonly origin: PlatformOrigin
  readonly upstream: Upstream
  readonly tokens: TokenProvider
  readonly counter: WindowCounter
  readonly recorder: RequestRecorder
  readonly cache: ResponseCache | undefined
  /** Undefined: no spans. */
  readonly spans?: RequestSpans | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Reports an unexpected exception; the request is answered all the same. */
  readonly onFault: (error: unknown) => void
}
