// Proposes an artifact: version 1 with the status proposed, its audit record, and a proposal that can be accepted or dismissed.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Label } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { describeAction } from '../audit/describe-action.ts'
import type { AuditEntry, ChangeGround } from '../audit/entry.ts'
import { checkPaused } from '../curator/check-paused.ts'
import { type ArtifactType, artifactContents } from './content.ts'
import { artifact_topic, requestFollowUp } from './follow-up.ts'
import { type Artifact, type ArtifactOrigin, artifacts, versionId } from './model.ts'

/** `content`: of the type, without what ranks it; that may stand beside it, and is carried into it. */
export type ArtifactDraft = {
  readonly tenant_id: string
  readonly label?: Label | undefined
  readonly type: ArtifactType
  readonly content: Readonly<Record<string, unknown>>
  readonly service_name?: string | undefined
  readonly tool_name?: string | undefined
  readonly applicability?: { readonly intent_class?: string | undefined; readonly tags?: readonly string[] }
  readonly rationale: string
  readonly supersedes?: readonly string[]
  readonly trace_ids?: readonly string[]
  /** As a model wrote it: clamped to 0 to 1; 0.5 where it cannot be read. */
  readonly confidence?: unknown
  readonly evaluator_score?: number
  readonly weight?: number
  /** The same key in a tenant is the same proposal; absent: a new one each time. */
  readonly key?: string
  /** Of one from another site. */
  readonly origin?: ArtifactOrigin
  /** It drifts: an administrator decides. */
  readonly isHeld?: boolean
}

/** `isNew` false: the draft of this key was proposed before, and is as it has become since. */
export type ProposedArtifact = { readonly doc: Doc<Artifact>; readonly isNew: boolean }

export async function proposeArtifact(
  call: Call,
  draft: ArtifactDraft,
  ground: ChangeGround,
): Promise<ProposedArtifact | Refusal> {
  const paused = await checkPaused(call, ground, draft.tenant_id)
  if (paused) return paused
  const id = nameArtifact(call, draft)
  const known = await findProposed(call, draft, id)
  if (known) return { doc: known, isNew: false }
  const value = buildProposed(id, draft, ground, call.now())
  if (isRefusal(value)) return value
  const { action, actor, trigger } = value.pending_audit
  const detail = { action, actor, trigger, type: value.type, version: 1 }
  const audit = [call.audited('gateway.guide.artifact.proposed', id, detail, value.label)]
  const created = await call.store(artifacts).create(id, value as Artifact, audit)
  if (created === 'exists') return { doc: await call.store(artifacts).get(id), isNew: false }
  await requestFollowUp(call, created)
  call.announce(artifact_topic)
  return { doc: created, isNew: true }
}

/** What became of the draft with this key, if it was proposed before. */
export async function findProposed(
  call: Call,
  draft: Pick<ArtifactDraft, 'tenant_id' | 'key'>,
  id = nameArtifact(call, draft),
): Promise<Doc<Artifact> | undefined> {
  return draft.key === undefined ? undefined : await call.store(artifacts).find(id)
}

function nameArtifact(call: Call, { tenant_id, key }: Pick<ArtifactDraft, 'tenant_id' | 'key'>): string {
  return key === undefined ? `artifact_${call.random(16)}` : keyedArtifactId(tenant_id, key)
}

/** The id of the artifact of a draft with this key. */
export function keyedArtifactId(tenant_id: string, key: string): string {
  return `artifact_${sha256(JSON.stringify([tenant_id, key])).slice(0, 32)}`
}

/** Of a model: any value may stand there. */
export function readConfidence(value: unknown): number {
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof read === 'number' && Number.isFinite(read) ? Math.min(1, Math.max(0, read)) : 0.5
}

function buildProposed(
  id: string,
  draft: ArtifactDraft,
  ground: ChangeGround,
  now: number,
): (Artifact & { readonly pending_audit: AuditEntry }) | Refusal {
  const { tenant_id, label, type, supersedes = [], trace_ids = [], applicability = {} } = draft
  const content = artifactContents[type].safeParse(carryRanking(draft))
  if (!content.success) {
    const errors = content.error.issues.map(({ path, message }) => ({ path: ['content', ...path].join('.'), message }))
    return refuse('invalid', `the content is not one of ${type}`, errors)
  }
  const pending_audit = buildEntry(id, draft, ground, now)
  const { actor } = ground
  return {
    tenant_id,
    ...(label ? { label } : {}),
    uds: { timestamp: now, username: actor, visibility: label ? 'label' : 'tenant' },
    ...{ create_ts: now, update_ts: now, schema_version: 1, type, content: content.data },
    ...{ status: 'proposed', version: 1, prev_version_id: null, change_reason: draft.rationale.slice(0, 2_048), actor },
    ...(draft.service_name === undefined ? {} : { service_name: draft.service_name }),
    ...(draft.tool_name === undefined ? {} : { tool_name: draft.tool_name }),
    ...(draft.origin ? { origin: draft.origin } : {}),
    applicability: {
      ...(applicability.intent_class === undefined ? {} : { intent_class: applicability.intent_class }),
      tags: [...(applicability.tags ?? [])],
    },
    ...{ rationale: draft.rationale, notes: '', supersedes: [...supersedes], trace_ids: [...trace_ids] },
    ...{ as_of: now, low_scores: 0, demoted_cycles: 0, is_flagged: false, pending_audit, follow_up: true },
  } as Artifact & { readonly pending_audit: AuditEntry }
}

/** Rule 3 of document 002: what a proposal carries at top level is in the content of its artifact. */
function carryRanking({ content, confidence, evaluator_score, weight }: ArtifactDraft): Record<string, unknown> {
  return {
    ...content,
    confidence: readConfidence(confidence ?? content.confidence),
    ...(evaluator_score === undefined ? {} : { evaluator_score }),
    ...(weight === undefined ? {} : { weight }),
  }
}

/** Observations were summarised into it, or held back from it. */
function buildEntry(id: string, draft: ArtifactDraft, ground: ChangeGround, now: number): AuditEntry {
  const { type, isHeld = false } = draft
  const subject = { verb: isHeld ? 'held' : 'proposed', subject: `${type} ${id}`, effect: draft.rationale }
  const { rationale = describeAction(subject, ground), ...grounds } = ground
  return {
    ...grounds,
    ...{ action: isHeld ? 'drift_hold' : 'compact', artifact_id: id, artifact_type: type },
    ...{ after_version_id: versionId(id, 1), rationale, at: now },
  }
}
