// Finds the ids of entities: the age that decides between two, an id that a split gives back, and a new one.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { clusterUid, entityClusters, type StoredCluster } from '../entity-cluster/model.ts'
import type { StoredRecord } from '../entity-record/model.ts'
import type { RegistryKey } from '../fields.ts'
import type { EntityAssignment } from './assign-entities.ts'
import { hasSameMembers, recordKey } from './record-key.ts'

/** When each was made, as text that sorts; what was split off comes after what it was split from, in the same instant too. */
export async function loadEntityAges(call: Call, ids: readonly string[]): Promise<Map<string, string>> {
  const known = await Promise.all(ids.map((id) => call.store(entityClusters).find(id)))
  const ageOf = ({ created_at, lineage }: StoredCluster) => `${created_at} ${lineage.split_from === undefined ? 0 : 1}`
  return new Map(known.flatMap((doc) => (doc ? [[doc.id, ageOf(doc.value)] as const] : [])))
}

/** The entity that was merged into the one which these records leave, if it was mostly of them: a merge taken back. */
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

/** An id of the first member that no others have; one that was made of the very same records before a crash is taken up. */
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
