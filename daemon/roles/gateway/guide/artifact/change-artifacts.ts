// The changes of artifacts, for operations and for the curator alike: each with its history, audit record and announcement.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { noSuchObject } from '../../../../kernel/error/missing-object.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { type Doc, labelKeyOf } from '../../../../kernel/store/store.ts'
import { type ChangeGround, isAdmin } from '../audit/entry.ts'
import { embedArtifact } from '../embedding/embed-artifact.ts'
import { proposalId, proposals } from '../proposal/model.ts'
import { type Artifact, artifactHistory, artifacts, versionId } from './model.ts'
import type { ArtifactEdit, LifecycleChange } from './rules.ts'
import { writeVersion } from './write-version.ts'

export type ChangedArtifact = Promise<Doc<Artifact> | Refusal>

/** `supersedes`: active artifacts that readers hide from now on, and that are demoted. */
export function promoteArtifact(
  call: Call,
  id: string,
  ground: ChangeGround,
  supersedes: readonly string[] = [],
): ChangedArtifact {
  return writeVersion(call, id, (current) => planPromotion(call, current, ground, supersedes), ground)
}

/**
 * The same once: refused `wrong_state` for one that is active by then, which would count for more, and for one that was changed
 * after `since`.
 */
export function activateArtifact(
  call: Call,
  id: string,
  ground: ChangeGround,
  { supersedes, since }: { readonly supersedes: readonly string[]; readonly since: number },
): ChangedArtifact {
  const plan = async (current: Doc<Artifact>) => {
    const { status, update_ts } = current.value
    const isOpen = status === 'proposed' || (status === 'demoted' && update_ts < since)
    return isOpen
      ? await planPromotion(call, current, ground, supersedes)
      : refuse('wrong_state', `the artifact is ${status} here`)
  }
  return writeVersion(call, id, plan, ground)
}

async function planPromotion(
  call: Call,
  current: Doc<Artifact>,
  ground: ChangeGround,
  supersedes: readonly string[],
): Promise<LifecycleChange | Refusal> {
  const { id, value } = current
  const named = [...new Set([...value.supersedes, ...supersedes])]
  const refused =
    (await checkSuperseded(call, current, value.superseded_by)) ??
    (await checkListed(call, current, named)) ??
    (await checkHeld(call, current, ground))
  if (refused) return refused
  // A status that allows no promotion is refused by the rules, without a request to a model.
  const embedding = value.status === 'forgotten' ? undefined : await embedArtifact(call, id, value)
  return { action: 'promote', supersedes: await keepListed(call, id, named), embedding }
}

/** One that was demoted on other grounds is not listed: once it is promoted again, readers must not hide it. */
async function keepListed(call: Call, id: string, listed: readonly string[]): Promise<string[]> {
  const kept: string[] = []
  for (const other of listed) {
    const doc = await call.store(artifacts).find(other)
    if (other === id || doc?.value.status === 'active' || doc?.value.superseded_by === id) kept.push(other)
  }
  return kept
}

export function demoteArtifact(call: Call, id: string, ground: ChangeGround): ChangedArtifact {
  return writeVersion(call, id, async () => ({ action: 'demote' }), ground)
}

export function forgetArtifact(call: Call, id: string, ground: ChangeGround): ChangedArtifact {
  return writeVersion(call, id, async () => ({ action: 'forget' }), ground)
}

/** For review with the next synthesis. */
export function flagArtifact(call: Call, id: string, ground: ChangeGround): ChangedArtifact {
  return writeVersion(call, id, async () => ({ action: 'upstream_flag' }), ground)
}

export function editArtifact(call: Call, id: string, ground: ChangeGround, edit: ArtifactEdit): ChangedArtifact {
  return writeVersion(call, id, async () => ({ action: 'edit', edit }), ground)
}

/** The content of an earlier version, in a new one. */
export function rollbackArtifact(call: Call, id: string, ground: ChangeGround, version: number): ChangedArtifact {
  return writeVersion(call, id, (current) => planRollback(call, current, version), ground)
}

async function planRollback(call: Call, current: Doc<Artifact>, version: number): Promise<LifecycleChange | Refusal> {
  const { id, value } = current
  if (version === value.version) return refuse('wrong_state', `the artifact has the version ${version} now`)
  const found = await call.store(artifactHistory).find(versionId(id, version))
  if (found?.value.artifact_id !== id || version > value.version) return noSuchObject('version of the artifact')
  const { artifact_id: _, ...to } = found.value
  if (to.status !== 'active') return { action: 'rollback', to: to as Artifact }
  const refused =
    (await checkSuperseded(call, current, value.superseded_by)) ?? (await checkListed(call, current, to.supersedes))
  if (refused) return refused
  return { action: 'rollback', to: { ...to, supersedes: await keepListed(call, id, to.supersedes) } as Artifact }
}

/** Readers would go on hiding it. */
async function checkSuperseded(
  call: Call,
  { id }: Doc<Artifact>,
  by: string | undefined,
): Promise<Refusal | undefined> {
  const other = by === undefined ? undefined : await call.store(artifacts).find(by)
  if (other?.value.status !== 'active' || !other.value.supersedes.includes(id)) return undefined
  return refuse('wrong_state', `the artifact is superseded by ${by}, which is active: demote that one first`)
}

/** The caller may change each; the curator acts for all tenants and labels, and mixes none of them. */
async function checkListed(
  call: Call,
  { id, value }: Doc<Artifact>,
  supersedes: readonly string[],
): Promise<Refusal | undefined> {
  for (const [at, listed] of supersedes.entries()) {
    const path = `supersedes.${at}`
    const message = await findListFault(call, { id, value }, listed)
    if (message) return refuse('invalid', `${path} ${message}`, [{ path, message }])
  }
  return undefined
}

async function findListFault(
  call: Call,
  { id, value }: Pick<Doc<Artifact>, 'id' | 'value'>,
  listed: string,
): Promise<string | undefined> {
  const other = (await call.store(artifacts).find(listed))?.value
  if (other?.tenant_id !== value.tenant_id) return 'is not the id of an artifact'
  if (labelKeyOf(other) !== labelKeyOf(value)) return 'is an artifact with another label'
  if (other.status === 'active' && other.supersedes.includes(id)) return 'is an artifact that supersedes this one'
  return undefined
}

/** Drift is held for people. */
async function checkHeld(call: Call, { id, value }: Doc<Artifact>, ground: ChangeGround): Promise<Refusal | undefined> {
  if (isAdmin(ground) || value.status !== 'proposed') return undefined
  const held = await isHeld(call, { id, value })
  return held ? refuse('wrong_state', 'the proposal drifts, and is held for an administrator') : undefined
}

async function isHeld(call: Call, { id, value }: Pick<Doc<Artifact>, 'id' | 'value'>): Promise<boolean> {
  if (value.pending_audit?.action === 'drift_hold') return true
  const found = await call.store(proposals).find(proposalId(id))
  return found?.value.status === 'held'
}

/** Follows from a promotion: by the same actor, and also where the curator was paused since. */
export function demoteSuperseded(call: Call, id: string, by: Doc<Artifact>): ChangedArtifact {
  const { actor = by.value.actor, trigger = 'synthesis_proposal' } = by.value.pending_audit ?? {}
  const plan = async (): Promise<LifecycleChange> => ({ action: 'demote', superseded_by: by.id })
  return writeVersion(call, id, plan, { actor, trigger }, { isConsequence: true })
}
