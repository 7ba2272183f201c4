// Finds the calls of a trace that guidance is about, and the failures that it warns of.
import { type AssessedArtifact, listConcerned } from '../evaluation/assess-trace.ts'
import type { ToolCall, TraceRecord } from '../learning/trace-record.ts'

export type TraceHits = {
  /** Calls that an artifact is about. */
  readonly calls: number
  readonly failures: number
  /** Failures that an artifact warns of: the argument that fails, or the tool or service that was left out. */
  readonly foreseen: number
}

export function findHits(trace: TraceRecord, guidance: readonly AssessedArtifact[]): TraceHits {
  const concerned = new Set(guidance.flatMap((each) => listConcerned(each, trace)))
  const failed = [...trace.calls.entries()].filter(([, call]) => call.isFailure)
  const foreseen = failed.filter(([at, call]) => {
    const before = trace.calls.slice(0, at).filter(({ isFailure }) => !isFailure)
    return guidance.some((each) => warnsOf(each, call, before))
  })
  return { calls: concerned.size, failures: failed.length, foreseen: foreseen.length }
}

/** `before`: calls of the trace that had succeeded by then. */
function warnsOf({ type, content }: AssessedArtifact, call: ToolCall, before: readonly ToolCall[]): boolean {
  if (type === 'FailurePattern') {
    const { tool, argument, value } = content
    return tool === call.tool && (typeof argument !== 'string' || call.arguments[argument] === value)
  }
  if (type === 'ToolPairingHint')
    return content.next_tool === call.tool && !before.some(({ tool }) => tool === content.tool)
  if (type === 'ServiceConnectionHint')
    return content.to === call.service && !before.some(({ service }) => service === content.from)
  return false
}
