// Waits for a run to come to where it was asked to go; no longer than a request may take.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { runTopic } from '../fusion-run/change-run.ts'
import { fusionRuns, type StoredRun } from '../fusion-run/model.ts'
import { isAtGoal } from '../fusion-run/rules.ts'

const timeout_ms = 15_000
const poll_interval_ms = 1_000

/** The run as it is then, there or not. */
export async function waitForRun(call: Call, run: Doc<StoredRun>): Promise<Doc<StoredRun>> {
  const until = call.monotonic() + timeout_ms
  let doc = run
  for await (const _ of call.changes(runTopic(run.id), call.signal, poll_interval_ms)) {
    doc = await call.store(fusionRuns).get(run.id)
    if (isAtGoal(doc.value) || call.monotonic() >= until) break
  }
  return doc
}
