// All miners by rules, over the newest traces of one tenant and label.
import { mineCalls } from './mine-calls.ts'
import { mineIntents } from './mine-intents.ts'
import type { MinedArtifact } from './mined-artifact.ts'
import type { TraceRecord } from './trace-record.ts'

/** The same traces give the same artifacts; each `yield` lets other work go on. */
export function* mineTraces(traces: readonly TraceRecord[]): Generator<undefined, MinedArtifact[]> {
  return [...(yield* mineCalls(traces)), ...(yield* mineIntents(traces))]
}
