// Tool servers that the site runs itself, as processes that are spoken to over their standard input and output.
import type { SandboxResult, SandboxStreams } from '../sandbox/sandbox.ts'
import type { ToolServiceLimits } from './tool-service.ts'

/** How one server is started, and what is done with it. */
export type StdioServerPlan = {
  /** As callers know it. */
  readonly name: string
  readonly limits: ToolServiceLimits
  /** Runs it until it ends, or the signal ends it. `attach` receives its streams, once it is started. Never throws. */
  readonly start: (attach: (streams: SandboxStreams) => void, signal: AbortSignal) => Promise<SandboxResult>
  /** Milliseconds that never go back. */
  readonly now: () => number
  /** A process of it is connected. */
  readonly onStart: () => void
  /** It has ended by itself, or was ended for this reason; `undefined`: it was not needed any more. */
  readonly onEnd: (reason: string | undefined) => void
}
