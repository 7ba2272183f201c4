// The lifecycle of an artifact: from which status each action starts, and the version that it makes.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { type Artifact, type ArtifactStatus, artifactStatuses, versionId } from './model.ts'

/** Of document 002, "States and transitions". A proposed one that is dismissed was never attached: it is not demoted first. */
const startingStatuses = {
  promote: ['proposed', 'active', 'demoted'],
  demote: ['active'],
  forget: ['demoted', 'proposed'],
  edit: ['proposed', 'active', 'demoted'],
  rollback: artifactStatuses,
  upstream_flag: ['proposed', 'active', 'demoted'],
} as const satisfies Record<string, readonly ArtifactStatus[]>

export type LifecycleAction = keyof typeof startingStatuses

/** The actions that an artifact of this status allows. */
export function listActions(status: ArtifactStatus): LifecycleAction[] {
  const actions = Object.keys(startingStatuses) as LifecycleAction[]
  return actions.filter((action) => (startingStatuses[action] as readonly ArtifactStatus[]).includes(status))
}

export type Embedding = { readonly vector: readonly number[]; readonly model: string }

/** `intent_class` null: for every intent. */
export type ArtifactEdit = {
  readonly tags?: readonly string[] | undefined
  readonly intent_class?: string | null | undefined
  readonly notes?: string | undefined
  /** It was reviewed: it is not flagged any more. */
  readonly is_reviewed?: boolean
}

export type LifecycleChange =
  /** `supersedes`: the whole list (default: as it is). */
  | { readonly action: 'promote'; readonly supersedes?: readonly string[]; readonly embedding?: Embedding | undefined }
  | { readonly action: 'demote'; readonly superseded_by?: string }
  | { readonly action: 'forget' | 'upstream_flag' }
  | { readonly action: 'edit'; readonly edit: ArtifactEdit }
  /** `to`: an earlier version. */
  | { readonly action: 'rollback'; readonly to: Artifact }

export type ChangeStamp = { readonly actor: string; readonly reason: string; readonly now: number }

const max_superseded = 256
const max_weight = 1_000
const max_reason_characters = 2_048

/** The next version, or why there is none. */
export function changeArtifact(
  id: string,
  current: Artifact,
  change: LifecycleChange,
  stamp: ChangeStamp,
): Artifact | Refusal {
  const { action } = change
  const from: readonly ArtifactStatus[] = startingStatuses[action]
  if (!from.includes(current.status)) return refuse('wrong_state', describeRefusedAction(action, current.status, from))
  const changed = applyChange(id, current, change, stamp.now)
  return changed instanceof Error ? changed : asNextVersion(id, current, changed, stamp)
}

function describeRefusedAction(
  action: LifecycleAction,
  status: ArtifactStatus,
  from: readonly ArtifactStatus[],
): string {
  const step = status === 'forgotten' ? 'roll it back first' : action === 'forget' ? 'demote it first' : undefined
  return `the artifact is ${status}, and ${action} needs one that is ${from.join(' or ')}${step ? `: ${step}` : ''}`
}

function applyChange(id: string, current: Artifact, change: LifecycleChange, now: number): Artifact | Refusal {
  switch (change.action) {
    case 'promote':
      return promote(id, current, change, now)
    case 'demote': {
      const { superseded_by } = change
      return { ...current, status: 'demoted', demoted_cycles: 0, ...(superseded_by ? { superseded_by } : {}) }
    }
    case 'forget':
      return { ...current, status: 'forgotten' }
    case 'upstream_flag':
      return { ...current, is_flagged: true }
    case 'edit':
      return edit(current, change.edit)
    case 'rollback':
      return rollBack(current, change.to, now)
  }
}

/** One that comes into the results keeps its weight (rule 3 of document 002); one that is in them counts for more. */
function promote(
  id: string,
  { superseded_by: _, ...current }: Artifact,
  { supersedes = current.supersedes, embedding }: Extract<LifecycleChange, { action: 'promote' }>,
  now: number,
): Artifact | Refusal {
  const listed = [...new Set(supersedes)]
  if (listed.includes(id)) return refuse('invalid', 'an artifact cannot supersede itself')
  if (listed.length > max_superseded)
    return refuse('invalid', `an artifact supersedes at most ${max_superseded} others`)
  const { weight = 1 } = current.content
  const content = {
    ...current.content,
    ...(current.status === 'active' ? { weight: Math.min(max_weight, weight + 1) } : {}),
    ...(embedding ? { embedding_vector: [...embedding.vector], embedding_model: embedding.model } : {}),
  }
  return {
    ...current,
    ...{ status: 'active', supersedes: listed, as_of: now, low_scores: 0, demoted_cycles: 0, is_flagged: false },
    content,
  } as Artifact
}

function edit(current: Artifact, { tags, intent_class, notes, is_reviewed = false }: ArtifactEdit): Artifact {
  const { intent_class: known, ...applicability } = current.applicability
  const next = intent_class === undefined ? known : (intent_class ?? undefined)
  return {
    ...current,
    applicability: {
      ...applicability,
      ...(next === undefined ? {} : { intent_class: next }),
      ...(tags ? { tags: [...new Set(tags)] } : {}),
    },
    ...(notes === undefined ? {} : { notes }),
    ...(is_reviewed ? { is_flagged: false } : {}),
  }
}

/** The status comes back too: a rollback to a forgotten version would be a removal under another name. */
function rollBack(current: Artifact, to: Artifact, now: number): Artifact | Refusal {
  if (to.status === 'forgotten')
    return refuse('wrong_state', `version ${to.version} is forgotten: name one before it was`)
  const { superseded_by } = current
  return {
    ...to,
    ...{ tenant_id: current.tenant_id, create_ts: current.create_ts, version: current.version },
    ...(current.label ? { label: current.label } : {}),
    ...(to.status === 'active' || superseded_by === undefined ? {} : { superseded_by }),
    ...{ as_of: now, low_scores: 0, demoted_cycles: 0, is_flagged: false },
  }
}

function asNextVersion(id: string, current: Artifact, changed: Artifact, stamp: ChangeStamp): Artifact {
  const { actor, reason, now } = stamp
  return {
    ...changed,
    version: current.version + 1,
    prev_version_id: versionId(id, current.version),
    change_reason: reason.slice(0, max_reason_characters),
    actor,
    update_ts: now,
    uds: { ...current.uds, timestamp: now, username: actor },
  }
}

/** The version as the history keeps it: what follows from its change is not part of it. */
export function toHistory(artifact_id: string, { pending_audit: _, follow_up: __, ...version }: Artifact) {
  return { ...version, artifact_id }
}

const normal_forget_cycles = 5

export type ScoreWeights = {
  readonly l3_error: number
  readonly schema_mismatch: number
  readonly user_feedback: number
  readonly confidence: number
}

type ScoreTerms = NonNullable<Artifact['content']['score_decomposition']>

/** Whether signals of tools and services weigh more in the score than all others together. */
export function isDominatedByTools(terms: ScoreTerms | undefined, weights: ScoreWeights): boolean {
  if (!terms) return false
  const ofTools = weights.l3_error * terms.l3_error + weights.schema_mismatch * terms.l3_schema_mismatch
  return ofTools > weights.user_feedback * terms.user_feedback + weights.confidence * terms.evaluator_confidence
}

/** Evaluations after which a demoted artifact is forgotten. */
export function cyclesUntilForgotten(isFast: boolean, fast_cycles: number): number {
  return isFast ? Math.min(fast_cycles, normal_forget_cycles) : normal_forget_cycles
}
