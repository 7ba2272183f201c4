// Analyses conflicts: a few contributors on the event loop, many in a thread.
import type { Call } from '../../../kernel/operation/call.ts'
import { part } from '../../../kernel/role/part.ts'
import { runInSlices } from '../../../kernel/role/run-in-slices.ts'
import type { DecisionPolicy } from '../combine/decide.ts'
import { analyseConflict, type ConflictAnalysis, type ConflictDescription } from '../combine/dissent.ts'

/** Input of the thread. */
export type ConflictAnalysisJob = { readonly policy: DecisionPolicy; readonly described: ConflictDescription }

export type ConflictAnalyser = {
  /** Analyses beside the event loop, one conflict at a time. Rejects with the reason of the signal. */
  analyse(job: ConflictAnalysisJob, signal: AbortSignal): Promise<ConflictAnalysis>
}
export const conflictAnalyser = part<ConflictAnalyser>('conflict_analyser')

/** Up to here, an analysis takes less than the start of a thread; it grows with the square. */
const max_positions_on_loop = 64

export async function analyseBesideLoop(
  call: Call,
  policy: DecisionPolicy,
  described: ConflictDescription,
): Promise<ConflictAnalysis> {
  if (described.positions.length <= max_positions_on_loop) return runInSlices(call, analyseConflict(policy, described))
  return call.part(conflictAnalyser).analyse({ policy, described }, call.signal)
}
