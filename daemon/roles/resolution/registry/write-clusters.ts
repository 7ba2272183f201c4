// Writes the entities of new clusters, and ends those that were merged; each write records what it changes for the log.
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { joinLabels, type Label, type LabelPolicy } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { EntityChangeCause } from '../entity-change/model.ts'
import { recordEntityChange } from '../entity-change/recorded-changes.ts'
import { entityClusters, type StoredCluster } from '../entity-cluster/model.ts'
import type { StoredRecord } from '../entity-record/model.ts'
import type { RegistryKey } from '../fields.ts'
import { writeConcurrently } from '../upsert-documents.ts'
import type { EntityAssignment } from './assign-entities.ts'
import { hasSameMembers, recordKey } from './record-key.ts'

export type EntityOrigin = Pick<StoredCluster, 'lens' | 'lens_id' | 'lens_version' | 'entity_type' | 'run_id'>

export function originOf({ lens, lens_id, lens_version, entity_type, run_id }: EntityOrigin): EntityOrigin {
  return { lens, lens_id, lens_version, entity_type, run_id }
}

/** A cluster to write: its entity id, its records and its lineage. */
export type TargetCluster = {
  readonly id: string
  readonly members: readonly Doc<StoredRecord>[]
  readonly assignment: EntityAssignment
}

/** `targets`: all clusters that are written together. */
export async function writeCluster(
  call: Call,
  { tenant_id }: RegistryKey,
  { origin, cause }: { readonly origin: EntityOrigin; readonly cause: EntityChangeCause },
  { id, members, assignment }: TargetCluster,
  targets: readonly TargetCluster[],
): Promise<void> {
  const at = call.nowIso()
  const label = joinMemberLabels(members, call.site.labels)
  const refs = members.map(({ value }) => value.ref)
  const lineage = {
    merged_from: [...assignment.merged_from],
    ...(assignment.split_from ? { split_from: assignment.split_from } : {}),
  }
  const cluster: StoredCluster = {
    ...{ tenant_id, label, ...origin, state: 'live', members: refs, size: refs.length, lineage },
    ...{ created_at: at, updated_at: at },
  }
  const carried = members.filter(({ value }) => value.entity && assignment.merged_from.includes(value.entity))
  const parts = targets.filter((target) => target.assignment.split_from === id).map((target) => target.id)
  const context = { at, cause, carried: new Set(carried.map(({ value }) => recordKey(value.ref))), parts }
  const audit = [call.audited('resolution.entity-cluster.settle', id, { size: refs.length, ...lineage }, label)]
  const created = recordEntityChange(undefined, cluster, context)
  if ((await call.store(entityClusters).create(id, created, audit)) !== 'exists') return
  await call.store(entityClusters).update(id, ({ value }) => {
    const isSameRun = value.run_id === origin.run_id && assignment.merged_from.length === 0
    // The label of a record may have become stricter, with the same values.
    const isSameLabel = canonicalJson(value.label) === canonicalJson(label)
    const isSame = isSameRun && isSameLabel && value.state === 'live' && hasSameMembers(value.members, refs)
    // An entity that is deleted meanwhile stays so: its records leave it afterwards.
    if (isSame || value.state === 'deleted') return { answer: undefined }
    const merged_from = [...new Set([...value.lineage.merged_from, ...assignment.merged_from])].sort()
    const { split_from = assignment.split_from } = value.lineage
    const { former: _former, ...rest } = value
    const next = { ...rest, ...origin, state: 'live' as const, label, members: refs, size: refs.length, updated_at: at }
    const changed = { ...next, lineage: { merged_from, ...(split_from ? { split_from } : {}) } }
    return { next: recordEntityChange(value, changed, context), answer: undefined, audit }
  })
}

/** Marks ids without a cluster as merged, and names the entities that now have their records. */
export async function endMergedEntities(
  call: Call,
  ids: readonly string[],
  targets: readonly TargetCluster[],
  cause: EntityChangeCause,
): Promise<void> {
  await writeConcurrently(ids, async (id) => {
    const merged_into = targets
      .filter(({ assignment }) => assignment.merged_from.includes(id))
      .map((target) => target.id)
      .sort()
    if (!(await call.store(entityClusters).find(id))) return
    await call.store(entityClusters).update(id, ({ value }) => {
      if (value.state !== 'live') return { answer: undefined }
      const lineage = { ...value.lineage, merged_into }
      const audit = [call.audited('resolution.entity-cluster.merge', id, { merged_into }, value.label)]
      const mergedFields = { state: 'merged' as const, members: [], size: 0, former: value.members }
      const at = call.nowIso()
      const next = { ...value, ...mergedFields, lineage, updated_at: at }
      return { next: recordEntityChange(value, next, { at, cause }), answer: undefined, audit }
    })
  })
}

/** Joins the labels of all members; if they cannot be joined, nobody may see the cluster. */
function joinMemberLabels(members: readonly Doc<StoredRecord>[], policy: LabelPolicy): Label {
  const [first, ...rest] = members.map(({ value }) => value.label)
  if (!first) throw new Error('the cluster has no records')
  let label = first
  for (const other of rest) {
    const joined = joinLabels(label, other, policy)
    if (!joined) return { ...first, releasable_to: [] }
    label = joined
  }
  return label
}
