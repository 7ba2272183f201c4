// Stores a verified set as held: its artifacts first, so that a set which can be seen is whole.
import { canonicalJson } from '../../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Label } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { guideSettings } from '../settings.ts'
import { guidanceSets, type StoredSet, setArtifactId, setArtifacts } from './model.ts'
import type { ReadSet } from './read-set.ts'
import { setIdOf } from './set-id.ts'

const day_ms = 86_400_000
/** Artifacts of an accepted set outlive it, so that what became of each can be read. */
const artifact_days = 365
/** Of one tenant: more are more than people can look at. */
const max_held_sets = 32

export type SetLabels = { readonly label: Label; readonly labels: readonly Label[] }

/** `rejected`: the document of the same set, which one administrator has rejected. */
export async function holdSet(
  call: Call,
  set: ReadSet,
  labels: SetLabels,
  rejected: Doc<StoredSet> | undefined,
): Promise<Doc<StoredSet> | Refusal> {
  const { tenant_id } = call.site
  if ((await call.store(guidanceSets).count({ tenant_id, status: 'held' })) >= max_held_sets)
    return refuse('over_budget', `${max_held_sets} sets are held: accept or reject some of them first`)
  const id = setIdOf(tenant_id, set.digest)
  const value = buildSet(call, set, labels.label)
  await storeArtifacts(call, id, set, labels.labels, value)
  const { peer, digest, made_at, artifact_count } = value
  const audit = [call.audited('gateway.guide.set.imported', id, { peer, digest, made_at, artifact_count }, value.label)]
  const store = call.store(guidanceSets)
  const created = rejected ? 'exists' : await store.create(id, value, audit)
  if (created !== 'exists') return created
  const { doc } = await store.update(id, ({ value: stored }) =>
    stored.status === 'rejected' ? { next: value, answer: undefined, audit } : { answer: undefined },
  )
  return doc
}

function buildSet(call: Call, { manifest, signed, digest }: ReadSet, label: Label): StoredSet {
  const now = call.now()
  const importer = call.caller.subject
  return {
    ...{ tenant_id: call.site.tenant_id, label, create_ts: now, update_ts: now, schema_version: 1 },
    uds: { timestamp: now, username: importer, visibility: 'label' },
    ...{ status: 'held', peer: manifest.from, origin_tenant_id: manifest.tenant_id, digest, made_at: manifest.made_at },
    ...{ signed, artifact_count: manifest.artifacts.length, importer },
    expires_ts: now + call.settings(guideSettings).set_hold_days * day_ms,
  }
}

/** Ids follow from the set: an import that a crash has cut short is completed by the next one. */
async function storeArtifacts(
  call: Call,
  set_id: string,
  { artifacts }: ReadSet,
  labels: readonly Label[],
  { tenant_id, uds, create_ts, update_ts, expires_ts = create_ts }: StoredSet,
): Promise<void> {
  const store = call.store(setArtifacts)
  for (const [at, artifact] of artifacts.entries()) {
    const number = at + 1
    const value = {
      ...{ tenant_id, label: labels[at], uds, create_ts, update_ts, schema_version: 1 as const },
      ...{ set_id, number, carried: canonicalJson(artifact), expires_ts: expires_ts + artifact_days * day_ms },
    }
    const id = setArtifactId(set_id, number)
    if ((await store.create(id, value)) === 'exists') await store.update(id, () => ({ next: value, answer: undefined }))
    if (number % artifacts_per_turn === 0) await call.pause()
  }
}

const artifacts_per_turn = 20
