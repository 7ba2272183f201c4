// Waits for a run to come to where it was asked to go; no longer than a request may take.
import type { Call } from '../../../kernel/call.ts'
import type { Doc } from '../../../kernel/store.ts'
import { runTopic } from '../fusion-run/change.ts'
import { fusionRuns, type StoredRun } from '../fusion-run/model.ts'
import { isAtGoal } from '../fusion-run/rules.ts'

const patience_ms = 15_000
const look_ms = 1_000

/** The run as it is then, there or not. */
export async function waitFor(call: Call, asked: Doc<StoredRun>): Promise<Doc<StoredRun>> {
  const until = call.monotonic() + patience_ms
  let doc = asked
  for await (const _ of call.changes(runTopic(asked.id), call.signal, look_ms)) {
    doc = await call.store(fusionRuns).get(asked.id)
    if (isAtGoal(doc.value) || call.monotonic() >= until) break
  }
  return doc
}
