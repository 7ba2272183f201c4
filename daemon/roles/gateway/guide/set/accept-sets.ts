// Makes the accepted artifacts of sets active, one after the other. Every step follows from the stored decision, so that a run
// which a crash has cut short is completed by the next one.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Worker } from '../../../../kernel/role/role.ts'
import { sliceRunner } from '../../../../kernel/role/run-in-slices.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { isPaused } from '../curator/check-paused.ts'
import { guideSettings } from '../settings.ts'
import { acceptArtifact, type SetAcceptance } from './accept-artifact.ts'
import { acceptanceApproval, acceptanceRequest, parseDecision } from './decision.ts'
import { type LoadedArtifact, loadKnown, storedReading } from './load-set.ts'
import {
  guidanceSets,
  type StoredSet,
  type StoredSetArtifact,
  setArtifactId,
  setArtifacts,
  setOriginId,
  setOrigins,
} from './model.ts'
import { digestOf, readManifest } from './read-set.ts'

export const accept_worker = 'guide-accept-sets'
const day_ms = 86_400_000
const batch_size = 20

export const acceptSets: Worker = { name: accept_worker, when: { every_ms: 10_000 }, run: acceptAll }

/** The oldest first, so that an artifact ends with the newest set that has it. */
export async function acceptAll(call: Call): Promise<void> {
  const order = { field: 'create_ts', direction: 'asc' } as const
  const { docs } = await call
    .store(guidanceSets)
    .list({ filter: { status: 'accepting' }, order, limit: batch_size, fresh: true })
  const failures: unknown[] = []
  for (const set of docs.toSorted((a, b) => (a.value.made_at < b.value.made_at ? -1 : 1))) {
    if (call.signal.aborted) return
    // A set that fails keeps no other from it; the next run tries it again.
    await acceptSet(call, set).catch((error: unknown) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}

async function acceptSet(call: Call, set: Doc<StoredSet>): Promise<void> {
  const acceptance = readAcceptance(set)
  if (!acceptance) return await finish(call, set)
  await claimOrigin(call, set)
  const { tenant_id } = set.value
  const loaded = await loadOpen(call, set, acceptance.artifacts)
  const types = loaded.map(({ carried }) => carried.type)
  const known = await loadKnown(call, tenant_id, types)
  for (const artifact of loaded) {
    if (call.signal.aborted || (await isPaused(call, tenant_id))) return
    const outcome = await acceptArtifact(call, acceptance, artifact, known)
    // Another process may have been faster.
    await call.store(setArtifacts).update(artifact.doc.id, ({ value }) => {
      if (value.outcome !== undefined) return { answer: undefined }
      return { next: { ...value, ...outcome, update_ts: call.now() }, answer: undefined }
    })
    await call.pause()
  }
  await finish(call, set)
}

/** The chosen ones without an outcome, as far as they are those that both people have signed. */
async function loadOpen(call: Call, set: Doc<StoredSet>, numbers: readonly number[]): Promise<LoadedArtifact[]> {
  const manifest = readManifest(set.value.signed)
  const loaded: LoadedArtifact[] = []
  const run = sliceRunner(call)
  for (const number of numbers) {
    const doc = await call.store(setArtifacts).find(setArtifactId(set.id, number))
    if (!doc || doc.value.outcome !== undefined) continue
    const artifact = await run(storedReading(doc))
    if (artifact?.digest === manifest?.artifacts[number - 1] && artifact) loaded.push(artifact)
    else await refuseAltered(call, doc)
  }
  return loaded
}

async function refuseAltered(call: Call, { id }: Doc<StoredSetArtifact>): Promise<void> {
  call.log.warn('gateway.guide.set.altered', { artifact: id })
  const refused = { outcome: 'refused', detail: 'it is not the one that was signed' } as const
  await call.store(setArtifacts).update(id, ({ value }) => ({ next: { ...value, ...refused }, answer: undefined }))
}

/** What two people have signed; undefined for a document that somebody has altered. */
function readAcceptance({ id: set_id, value }: Doc<StoredSet>): SetAcceptance | undefined {
  const { request, approval, accepted_ts, peer, origin_tenant_id, made_at, digest } = value
  const first = request && parseDecision(acceptanceRequest, request.signature)
  const second = approval && parseDecision(acceptanceApproval, approval.signature)
  if (!first || !second || accepted_ts === undefined) return undefined
  if (digestOf(value.signed) !== digest || first.digest !== digest || second.digest !== digest || second.set !== set_id)
    return undefined
  const { artifacts, reason } = second
  const people = { requester: first.subject, approver: second.subject }
  return { set_id, peer, origin_tenant_id, made_at, accepted_ts, artifacts, reason, ...people }
}

/** Only forward: the newest set that was accepted counts. */
async function claimOrigin(call: Call, { id: set_id, value }: Doc<StoredSet>): Promise<void> {
  const { tenant_id, peer, made_at, digest } = value
  const id = setOriginId(tenant_id, peer)
  const next = { tenant_id, peer, made_at, digest, set_id }
  const store = call.store(setOrigins)
  if ((await store.create(id, next)) !== 'exists') return
  await store.update(id, ({ value: known }) =>
    known.made_at < made_at ? { next, answer: undefined } : { answer: undefined },
  )
}

async function finish(call: Call, { id }: Doc<StoredSet>): Promise<void> {
  const now = call.now()
  const expires_ts = now + call.settings(guideSettings).audit_retention_days * day_ms
  await call
    .store(guidanceSets)
    .update(id, ({ value }) =>
      value.status === 'accepting'
        ? { next: { ...value, status: 'accepted', update_ts: now, expires_ts }, answer: undefined }
        : { answer: undefined },
    )
}
