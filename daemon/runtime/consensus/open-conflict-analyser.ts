// Opens the analysis of conflicts: a thread for each, and one at a time, whoever asks.
import { threads } from '../../../adapters/compute/threads/threads.ts'
import { findThreadScript } from '../../boot/host/thread-script.ts'
import type { ConflictAnalysis } from '../../roles/consensus/combine/dissent.ts'
import type { ConflictAnalyser } from '../../roles/consensus/dissent/conflict-analyser.ts'

/** A thousand contributors, the most of a policy, take half a second and 20 MB. */
const limits = { timeout_ms: 60_000, max_memory_bytes: 256 * 1_048_576 }

export function openConflictAnalyser(): ConflictAnalyser {
  const compute = threads(() =>
    findThreadScript('conflict-thread.cjs', new URL('./conflict-thread.ts', import.meta.url)),
  )
  let before: Promise<unknown> = Promise.resolve()
  return {
    analyse(input, signal) {
      const analysis = before.then(() => compute.run({ ...limits, input, signal, report: () => undefined }))
      before = analysis.catch(() => undefined)
      return analysis as Promise<ConflictAnalysis>
    },
  }
}
