// Follow-up of a change of an artifact: its audit record, its proposal, and the demotion of those that it supersedes.
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { storeAudit } from '../audit/store-audit.ts'
import { settleProposal } from '../proposal/settle-proposal.ts'
import { type Artifact, artifacts, versionId } from './model.ts'

/** Announced after each change of an artifact, for those that keep active artifacts in memory. */
export const artifact_topic = 'guide.artifact'

export const follow_up_worker = 'guide-follow-up'

/** Repeats harmlessly: the ids of both records follow from the version. */
export async function recordChange(call: Call, { id, value }: Doc<Artifact>): Promise<void> {
  const { pending_audit: entry, version } = value
  if (!entry) return
  await storeAudit(call, versionId(id, version), entry, value)
  await settleProposal(call, id, value, entry)
}

/** The change is durable, with its record: a store that fails now delays the rest, and does not undo the change. */
export async function requestFollowUp(call: Call, changed: Doc<Artifact>): Promise<void> {
  try {
    await recordChange(call, changed)
  } catch (error) {
    call.log.warn('gateway.guide.artifact.record-delayed', { artifact: changed.id, error: describe(error) })
  }
  call.wake(follow_up_worker)
}

export type Demote = (call: Call, id: string, by: Doc<Artifact>) => Promise<unknown>

/** For a worker: the demotions change other artifacts, to which no condition of a request applies. */
export async function finishChange(call: Call, listed: Doc<Artifact>, demote: Demote): Promise<void> {
  const { id } = listed
  // It may have changed since it was listed, such as by the demotion of another.
  const changed = await call.store(artifacts).get(id)
  await recordChange(call, changed)
  const { version, status, supersedes } = changed.value
  if (status === 'active') for (const other of supersedes) await demoteListed(call, other, changed, demote)
  await call.store(artifacts).update(id, ({ value: stored }) => {
    if (stored.version !== version || !stored.follow_up) return { answer: undefined }
    const { pending_audit: _, follow_up: __, ...next } = stored
    return { next: next as Artifact, answer: undefined }
  })
}

async function demoteListed(call: Call, id: string, by: Doc<Artifact>, demote: Demote): Promise<void> {
  const listed = await call.store(artifacts).find(id)
  // A list names artifacts by id alone: one of another tenant is none of its business.
  if (listed?.value.status !== 'active' || listed.value.tenant_id !== by.value.tenant_id) return
  const outcome = await demote(call, id, by)
  if (isRefusal(outcome) && outcome.code !== 'wrong_state') throw outcome
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
