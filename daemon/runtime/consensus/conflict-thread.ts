// Entry point of the thread that analyses a conflict; a separate bundle in the executable.
import { runInThread } from '../../../adapters/compute/threads/run-in-thread.ts'
import { runToEnd } from '../../kernel/role/run-to-end.ts'
import { analyseConflict } from '../../roles/consensus/combine/dissent.ts'
import type { ConflictAnalysisJob } from '../../roles/consensus/dissent/conflict-analyser.ts'

void runInThread((input) => {
  const { policy, described } = input as ConflictAnalysisJob
  return runToEnd(analyseConflict(policy, described))
})
