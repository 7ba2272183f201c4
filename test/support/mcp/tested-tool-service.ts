// A tool service as the conformance suite needs it: tools `echo`, `wait` (until cancelled) and `fail`, and a list that grows.
import type { RemoteResource } from '../../../daemon/kernel/tools/remote-resource.ts'

export type TestedToolService = {
  readonly url: URL
  /** The name and version that it gives itself. */
  readonly about: { readonly name: string; readonly version: string }
  readonly tools: readonly string[]
  /** Whether its tool `count` reports progress. */
  readonly reportsProgress: boolean
  /** A token that it accepts. */
  readonly token: string
  /** `authorization` of each request so far. */
  readonly credentials: readonly (string | undefined)[]
  /** Calls that ended by cancellation. */
  readonly cancelled: readonly string[]
  /** Adds a tool, and reports the change to whoever listens. */
  addTool(name: string): Promise<void>
  /** Lists resources from now on, if it has any: these, in this order. */
  offerResources(): Promise<readonly RemoteResource[]>
  close(): Promise<void>
}
