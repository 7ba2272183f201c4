// Writes a version of an artifact: first the prior one to the history, then the artifact with the record of the change in it.
import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { describeAction } from '../audit/describe-action.ts'
import type { AuditEntry, ChangeGround } from '../audit/entry.ts'
import { checkPaused } from '../curator/check-paused.ts'
import { artifact_topic, recordChange, requestFollowUp } from './follow-up.ts'
import { type Artifact, artifactHistory, artifacts, versionId } from './model.ts'
import { changeArtifact, type LifecycleAction, type LifecycleChange, toHistory } from './rules.ts'

/** Of others that change the same artifact. */
const max_attempts = 16

const auditVerbs: Readonly<Record<LifecycleAction, string>> = {
  promote: 'promoted',
  demote: 'demoted',
  forget: 'forgotten',
  edit: 'edited',
  rollback: 'rolled-back',
  upstream_flag: 'flagged',
}

/** Reads what the change needs of the artifact; it runs again where that has another version by then. */
export type ChangePlan = (current: Doc<Artifact>) => Promise<LifecycleChange | Refusal>

/**
 * The document with the new version. The audit record is stored with the artifact, and again by `recordChange`, so that a
 * crash between two writes loses none. `isConsequence`: of a change that was made before a pause. Throws the refusals of the store: an artifact that the caller may not change.
 */
export async function writeVersion(
  call: Call,
  id: string,
  plan: ChangePlan,
  ground: ChangeGround,
  { isConsequence = false } = {},
): Promise<Doc<Artifact> | Refusal> {
  for (let attempt = 0; attempt < max_attempts; attempt += 1) {
    const current = await loadForChange(call, id)
    const change = await plan(current)
    if (isRefusal(change)) return change
    // As late as possible: a plan may wait for a model.
    const paused = isConsequence ? undefined : await checkPaused(call, ground, current.value.tenant_id)
    if (paused) return paused
    const written = await tryWrite(call, current, change, ground)
    if (written !== 'moved') return written
    await call.pause()
  }
  return refuse('unavailable', 'the artifact is changed by others at the same time: try again')
}

/** With the refusals of a change, If-Match included: another tenant's artifact is not merely missing. */
async function loadForChange(call: Call, id: string): Promise<Doc<Artifact>> {
  return (await call.store(artifacts).update(id, () => ({ answer: undefined }))).doc
}

async function tryWrite(
  call: Call,
  current: Doc<Artifact>,
  change: LifecycleChange,
  ground: ChangeGround,
): Promise<Doc<Artifact> | Refusal | 'moved'> {
  const { id, value } = current
  const refused = buildVersion(id, value, change, ground, call.now())
  if (isRefusal(refused)) return refused
  // The record of the former change would be replaced with the artifact.
  await recordChange(call, current)
  await call.store(artifactHistory).create(versionId(id, value.version), toHistory(id, value))
  const { doc, answer } = await call.store(artifacts).update<Refusal | 'moved' | undefined>(id, (stored) => {
    if (stored.value.version !== value.version) return { answer: 'moved' }
    const next = buildVersion(id, stored.value, change, ground, call.now())
    if (isRefusal(next)) return { answer: next }
    const { action, actor, trigger } = next.pending_audit
    const detail = { action, actor, trigger, type: next.type, version: next.version }
    const audit = [call.audited(`gateway.guide.artifact.${auditVerbs[change.action]}`, id, detail, next.label)]
    return { next: next as Artifact, answer: undefined, audit }
  })
  if (answer !== undefined) return answer
  await requestFollowUp(call, doc)
  call.announce(artifact_topic)
  return doc
}

type AuditedArtifact = Artifact & { readonly pending_audit: AuditEntry }

function buildVersion(
  id: string,
  current: Artifact,
  change: LifecycleChange,
  ground: ChangeGround,
  now: number,
): AuditedArtifact | Refusal {
  const { rationale = describeChange(id, current, change, ground), ...grounds } = ground
  const next = changeArtifact(id, current, change, { actor: ground.actor, reason: rationale, now })
  if (isRefusal(next)) return next
  const { evaluator_score, score_decomposition } = current.content
  const pending_audit: AuditEntry = {
    ...(evaluator_score === undefined ? {} : { evaluator_score }),
    ...(score_decomposition ? { score_decomposition } : {}),
    ...{ ...grounds, action: change.action, artifact_id: id, artifact_type: next.type },
    ...{ before_version_id: versionId(id, current.version), after_version_id: versionId(id, next.version) },
    ...{ rationale, at: now },
  }
  return { ...next, pending_audit, follow_up: true }
}

function describeChange(
  id: string,
  { type, status, version }: Artifact,
  change: LifecycleChange,
  ground: ChangeGround,
) {
  const verb = auditVerbs[change.action].replace('-', ' ')
  return describeAction({ verb, subject: `${type} ${id}`, effect: describeEffect(change, status, version + 1) }, ground)
}

function describeEffect(change: LifecycleChange, status: string, version: number): string {
  const made = `version ${version} was written`
  switch (change.action) {
    case 'promote': {
      const { supersedes = [] } = change
      const replaced = supersedes.length === 0 ? '' : ` and supersedes ${supersedes.join(', ')}`
      return status === 'active' ? `its weight was raised${replaced}; ${made}` : `it is active${replaced}; ${made}`
    }
    case 'demote':
      return `it is not attached any more${change.superseded_by ? `, since ${change.superseded_by} supersedes it` : ''}; ${made}`
    case 'forget':
      return `it was removed from the artifacts; its earlier versions are kept; ${made}`
    case 'rollback':
      return `its content is that of version ${change.to.version}; ${made}`
    case 'upstream_flag':
      return `it is reviewed with the next synthesis; ${made}`
    case 'edit':
      return `its metadata was changed; ${made}`
  }
}
