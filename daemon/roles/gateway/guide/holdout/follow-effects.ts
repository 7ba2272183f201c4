// Reads the counts of other processes, and of this one before a restart: the share of traces without an artifact depends on them.
import type { Call } from '../../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../../kernel/store/iterate-documents.ts'
import { learningPart } from '../learning/parts.ts'
import { artifactEffects } from './model.ts'

const follow_ms = 10_000
/** The clocks of processes differ, and a write takes a while. */
const overlap_ms = 5_000

export async function followEffects(call: Call): Promise<void> {
  const { holdout } = call.part(learningPart)
  const now = call.now()
  if (now - holdout.followed_ms < follow_ms) return
  const order = { field: 'update_ts', direction: 'asc' } as const
  const query = { filter: { update_ts: { gte: holdout.newest_ts - overlap_ms } }, order }
  for await (const { value } of iterateDocuments(call.store(artifactEffects), query)) {
    holdout.note(value.artifact_id, value)
    holdout.newest_ts = Math.max(holdout.newest_ts, value.update_ts)
  }
  holdout.followed_ms = now
}
