// Keeps the proposal of an artifact in step with the change that its artifact has had.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Artifact } from '../artifact/model.ts'
import type { AuditEntry } from '../audit/entry.ts'
import { proposalId, proposals, type StoredProposal } from './model.ts'

/** Repeats harmlessly: a proposal is created once, and settled once. */
export async function settleProposal(call: Call, id: string, artifact: Artifact, entry: AuditEntry): Promise<void> {
  const store = call.store(proposals)
  if (entry.before_version_id === undefined) {
    await store.create(proposalId(id), buildProposal(id, artifact, entry))
    return
  }
  const status = settledStatus(entry)
  if (status === undefined || !(await store.find(proposalId(id)))) return
  await store.update(proposalId(id), ({ value }) =>
    value.status === 'open' || value.status === 'held'
      ? {
          next: { ...value, status, settled_by: entry.actor, settled_ts: entry.at, update_ts: entry.at },
          answer: undefined,
        }
      : { answer: undefined },
  )
}

function settledStatus({ action }: AuditEntry): 'accepted' | 'dismissed' | undefined {
  if (action === 'promote') return 'accepted'
  return action === 'forget' ? 'dismissed' : undefined
}

function buildProposal(artifact_id: string, artifact: Artifact, entry: AuditEntry): StoredProposal {
  const { tenant_id, label, uds, type, supersedes, content, rationale } = artifact
  const { confidence = 0.5, evaluator_score, weight } = content
  const { at, actor, action, trigger, related_drift_event_id, evidence_ref } = entry
  return {
    ...{ tenant_id, ...(label ? { label } : {}), uds, create_ts: at, update_ts: at, schema_version: 1 },
    ...{ status: action === 'drift_hold' ? 'held' : 'open', artifact_id, artifact_type: type, confidence, supersedes },
    ...(evaluator_score === undefined ? {} : { evaluator_score }),
    ...(weight === undefined ? {} : { weight }),
    ...{ rationale, proposed_by: actor, trigger },
    ...(related_drift_event_id === undefined ? {} : { related_drift_event_id }),
    ...(evidence_ref ? { evidence_ref } : {}),
  }
}
