// Finds the ids of entities: the age that decides between two, an id that a split gives back, and a new one.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { clusterUid, entityClusters, type StoredCluster } from '../entity-cluster/model.ts'
import type { StoredRecord } from '../entity-record/model.ts'
import type { RegistryKey } from '../fields.ts'
import type { EntityAssignment } from './assign-entities.ts'
import { hasSameMembers, recordKey } from './record-key.ts'

/**
 * Returns when each entity was created, as text that sorts. A split-off entity sorts after its origin, even in the same
 * instant.
 */
export async function loadEntityAges(call: Call, ids: readonly string[]): Promise<Map<string, string>> {
  const known = await Promise.all(ids.map((id) => call.store(entityClusters).find(id)))
  const ageOf = ({ created_at, lineage }: StoredCluster) => `${created_at} ${lineage.split_from === undefined ? 0 : 1}`
  return new Map(known.flatMap((doc) => (doc ? [[doc.id, ageOf(doc.value)] as const] : [])))
}

/**
 * Finds the merged entity that these records mostly were, where they leave the entity it was merged into: an undone
 * merge.
 */
export async function findRevivedEntity(
  call: Call,
  members: readonly Doc<StoredRecord>[],
  { split_from }: EntityAssignment,
  taken: ReadonlySet<string>,
): Promise<string | undefined> {
  const left = split_from === undefined ? undefined : await call.store(entityClusters).find(split_from)
  const mine = new Set(members.map(({ value }) => recordKey(value.ref)))
  let best: { id: string; shared: number } | undefined
  for (const id of left?.value.lineage.merged_from ?? []) {
    const was = taken.has(id) ? undefined : await call.store(entityClusters).find(id)
    if (was?.value.state !== 'merged') continue
    const shared = (was.value.former ?? []).filter((ref) => mine.has(recordKey(ref))).length
    if (shared > (best?.shared ?? 0)) best = { id, shared }
  }
  return best?.id
}

/**
 * Derives a free id from the first member. Reuses the id of an entity of the same records, which a crash left behind.
 */
export async function allocateEntityId(
  call: Call,
  { tenant_id, lens }: RegistryKey,
  members: readonly Doc<StoredRecord>[],
  taken: ReadonlySet<string>,
): Promise<string> {
  const refs = members.map(({ value }) => value.ref)
  const [first] = refs
  if (!first) throw new Error('a cluster without records')
  for (let turn = 0; ; turn++) {
    const id = clusterUid(tenant_id, lens, first, turn)
    if (taken.has(id)) continue
    const known = await call.store(entityClusters).find(id)
    if (!known || (known.value.state === 'live' && hasSameMembers(known.value.members, refs))) return id
  }
}
