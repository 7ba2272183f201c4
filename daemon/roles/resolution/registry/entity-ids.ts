// Finds ids of entities: ages that break ties, the former id after an undone merge, and new ids.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { clusterUid, entityClusters, type StoredCluster } from '../entity-cluster/model.ts'
import type { StoredRecord } from '../entity-record/model.ts'
import type { RegistryKey } from '../fields.ts'
import type { EntityAssignment } from './assign-entities.ts'
import { hasSameMembers, recordKey } from './record-key.ts'

/**
 * Loads the creation time of each entity, as sortable text. A split-off entity sorts after its origin at the same time.
 */
export async function loadEntityAges(call: Call, ids: readonly string[]): Promise<Map<string, string>> {
  const docs = await Promise.all(ids.map((id) => call.store(entityClusters).find(id)))
  const ageOf = ({ created_at, lineage }: StoredCluster) => `${created_at} ${lineage.split_from === undefined ? 0 : 1}`
  return new Map(docs.flatMap((doc) => (doc ? [[doc.id, ageOf(doc.value)] as const] : [])))
}

/**
 * Finds the former entity of most of these records when they leave the entity that it was merged into (an undone
 * merge).
 */
export async function findRevivedEntity(
  call: Call,
  members: readonly Doc<StoredRecord>[],
  { split_from }: EntityAssignment,
  taken: ReadonlySet<string>,
): Promise<string | undefined> {
  const origin = split_from === undefined ? undefined : await call.store(entityClusters).find(split_from)
  const memberKeys = new Set(members.map(({ value }) => recordKey(value.ref)))
  let best: { id: string; shared: number } | undefined
  for (const id of origin?.value.lineage.merged_from ?? []) {
    const candidate = taken.has(id) ? undefined : await call.store(entityClusters).find(id)
    if (candidate?.value.state !== 'merged') continue
    const shared = (candidate.value.former ?? []).filter((ref) => memberKeys.has(recordKey(ref))).length
    if (shared > (best?.shared ?? 0)) best = { id, shared }
  }
  return best?.id
}

/** Derives an unused id from the first member. Reuses the id of an entity of the same records that a crash left. */
export async function allocateEntityId(
  call: Call,
  { tenant_id, lens }: RegistryKey,
  members: readonly Doc<StoredRecord>[],
  taken: ReadonlySet<string>,
): Promise<string> {
  const refs = members.map(({ value }) => value.ref)
  const [first] = refs
  if (!first) throw new Error('the cluster has no records')
  for (let turn = 0; ; turn++) {
    const id = clusterUid(tenant_id, lens, first, turn)
    if (taken.has(id)) continue
    const existing = await call.store(entityClusters).find(id)
    if (!existing || (existing.value.state === 'live' && hasSameMembers(existing.value.members, refs))) return id
  }
}
