// Applies decisions to clusters: recomputes the clusters of all records in reach, and writes them in an order that
// makes a repeat after a crash harmless.

import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { joinLabels, type Label, type LabelPolicy } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { entityClusters, type StoredCluster } from '../entity-cluster/model.ts'
import { entityMatches, type StoredMatch } from '../entity-match/model.ts'
import { deriveConstraint } from '../entity-match/rules.ts'
import { entityRecords, isWithdrawn, type StoredRecord } from '../entity-record/model.ts'
import { computeReviewWorth } from '../explain/review-worth.ts'
import type { RegistryKey } from '../fields.ts'
import { requestJob } from '../matching-thread/request-job.ts'
import { putDocuments, writeConcurrently } from '../upsert-documents.ts'
import { assignEntities, type EntityAssignment } from './assign-entities.ts'
import type { DecidedClusters, DecisionInput } from './cluster-with-decisions.ts'
import { type DecisionReach, loadDecisionReach } from './decision-reach.ts'
import { allocateEntityId, findRevivedEntity, loadEntityAges } from './entity-ids.ts'
import { hasSameMembers, recordKey } from './record-key.ts'

type EntityOrigin = Pick<StoredCluster, 'lens' | 'lens_id' | 'lens_version' | 'entity_type' | 'run_id'>

export function originOf({ lens, lens_id, lens_version, entity_type, run_id }: EntityOrigin): EntityOrigin {
  return { lens, lens_id, lens_version, entity_type, run_id }
}

/** A cluster to write: its entity id, its records and its lineage. */
type TargetCluster = {
  readonly id: string
  readonly members: readonly Doc<StoredRecord>[]
  readonly assignment: EntityAssignment
}

/**
 * Recomputes the entities of the seeds. Idempotent. Several seeds give the same result as each alone, since their reaches
 * are disjoint or equal. Entities are written before the records that name them, so that a repeat after a crash finds
 * them under the same ids. `origin`: the lens and run of created entities.
 */
export async function reclusterEntities(
  call: Call,
  registry: RegistryKey,
  origin: EntityOrigin,
  seeds: readonly string[],
): Promise<void> {
  const reach = await loadDecisionReach(call, registry, seeds)
  if (reach.records.size === 0) return
  const byKey = new Map([...reach.records.values()].map((doc) => [recordKey(doc.value.ref), doc]))
  const decided = await requestJob(call, 'apply_decisions', buildDecisionInput(reach))
  const old = groupByEntity(reach)
  const assignments = assignEntities(decided.clusters, old, await loadEntityAges(call, [...old.keys()]))
  const taken = new Set(assignments.flatMap(({ id }) => (id === undefined ? [] : [id])))
  const targets: TargetCluster[] = []
  for (const [at, keys] of decided.clusters.entries()) {
    const members = keys.flatMap((key) => byKey.get(key) ?? [])
    const assignment = assignments[at] ?? { id: undefined, merged_from: [], split_from: undefined }
    const id =
      assignment.id ??
      (await findRevivedEntity(call, members, assignment, taken)) ??
      (await allocateEntityId(call, registry, members, taken))
    taken.add(id)
    targets.push({ id, members, assignment })
  }
  await writeConcurrently(targets, (target) => writeCluster(call, registry, origin, target))
  await endMergedEntities(
    call,
    [...old.keys()].filter((id) => !taken.has(id)),
    targets,
  )
  await writeRecords(call, targets)
  await writeMatches(call, reach, targets, decided)
}

function buildDecisionInput({ records, matches }: DecisionReach): DecisionInput {
  const links = matches.map(({ value }) => ({ ...pairKeys(value), above: value.above }))
  const decisions = matches.flatMap(({ value }) => {
    const is = deriveConstraint(value)
    return is ? [{ ...pairKeys(value), is }] : []
  })
  const bases = new Map([...records.values()].map(({ value }) => [recordKey(value.ref), value.base]))
  return { bases, links, decisions }
}

function pairKeys({ left, right }: StoredMatch) {
  return { left: recordKey(left), right: recordKey(right) }
}

function groupByEntity({ records }: DecisionReach): Map<string, string[]> {
  const old = new Map<string, string[]>()
  for (const { value } of records.values()) {
    if (value.entity === undefined) continue
    const members = old.get(value.entity)
    if (members) members.push(recordKey(value.ref))
    else old.set(value.entity, [recordKey(value.ref)])
  }
  return old
}

async function writeCluster(
  call: Call,
  registry: RegistryKey,
  origin: EntityOrigin,
  { id, members, assignment }: TargetCluster,
): Promise<void> {
  const at = call.nowIso()
  const label = joinMemberLabels(members, call.site.labels)
  const refs = members.map(({ value }) => value.ref)
  const { tenant_id } = registry
  const lineage = {
    merged_from: [...assignment.merged_from],
    ...(assignment.split_from ? { split_from: assignment.split_from } : {}),
  }
  const cluster: StoredCluster = {
    ...{ tenant_id, label, ...origin, state: 'live', members: refs, size: refs.length, lineage },
    ...{ created_at: at, updated_at: at },
  }
  const audit = [call.audited('resolution.entity-cluster.settle', id, { size: refs.length, ...lineage }, label)]
  if ((await call.store(entityClusters).create(id, cluster, audit)) !== 'exists') return
  await call.store(entityClusters).update(id, ({ value }) => {
    const isSameRun = value.run_id === origin.run_id && assignment.merged_from.length === 0
    const isSame = isSameRun && value.state === 'live' && hasSameMembers(value.members, refs)
    // An entity that is deleted meanwhile stays so: its records leave it afterwards.
    if (isSame || value.state === 'deleted') return { answer: undefined }
    const merged_from = [...new Set([...value.lineage.merged_from, ...assignment.merged_from])].sort()
    const { split_from = assignment.split_from } = value.lineage
    const { former: _former, ...rest } = value
    const next = { ...rest, ...origin, state: 'live' as const, label, members: refs, size: refs.length, updated_at: at }
    return {
      next: { ...next, lineage: { merged_from, ...(split_from ? { split_from } : {}) } },
      answer: undefined,
      audit,
    }
  })
}

/** Marks ids without a cluster as merged, and names the entities that now have their records. */
async function endMergedEntities(call: Call, ids: readonly string[], targets: readonly TargetCluster[]): Promise<void> {
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
      const next = { ...value, ...mergedFields, lineage, updated_at: call.nowIso() }
      return { next, answer: undefined, audit }
    })
  })
}

async function writeRecords(call: Call, targets: readonly TargetCluster[]): Promise<void> {
  const store = call.store(entityRecords)
  const entityOf = new Map(targets.flatMap(({ id, members }) => members.map((doc) => [doc.id, id] as const)))
  const withEntity = (id: string, value: StoredRecord) => ({
    ...value,
    entity: entityOf.get(id),
    updated_at: call.nowIso(),
  })
  const moved = targets.flatMap(({ id, members }) => members.filter(({ value }) => value.entity !== id))
  const changed = await putDocuments(
    store,
    moved.map((doc) => ({ ...doc, value: withEntity(doc.id, doc.value) })),
  )
  await writeConcurrently(changed, (id) =>
    store.update(id, ({ value }) =>
      // Of a record that was withdrawn meanwhile, only a withdrawal that is not settled reads its entity.
      isWithdrawn(value) && value.erasing !== 'registry'
        ? { answer: undefined }
        : { next: withEntity(id, value), answer: undefined },
    ),
  )
}

/**
 * Updates each match in reach: whether its records are linked, whether it is overruled, and its review worth. Clears
 * its pending decision.
 */
async function writeMatches(
  call: Call,
  reach: DecisionReach,
  targets: readonly TargetCluster[],
  decided: DecidedClusters,
): Promise<void> {
  const clusterOf = new Map(targets.flatMap(({ id, members }) => members.map((doc) => [doc.id, id] as const)))
  const sizes = new Map(targets.map(({ id, members }) => [id, members.length]))
  const changed: Doc<StoredMatch>[] = []
  const overruled = new Set(decided.overruled.map(({ left, right }) => JSON.stringify([left, right])))
  for (const doc of reach.matches) {
    const { left_uid, right_uid, left, right, score, linked: _before, overruled: _was, ...rest } = doc.value
    const [leftCluster = '', rightCluster = ''] = [clusterOf.get(left_uid), clusterOf.get(right_uid)]
    const linked = leftCluster === rightCluster
    const effect = { linked, left_size: sizes.get(leftCluster) ?? 1, right_size: sizes.get(rightCluster) ?? 1 }
    const isOverruled = overruled.has(JSON.stringify([recordKey(left), recordKey(right)].sort()))
    const isOpen = rest.state === 'proposed' || rest.state === 'deferred'
    const chance = score.probability ?? rest.chance
    const worth = isOpen && chance !== undefined ? computeReviewWorth(chance, effect) : 0
    const next: StoredMatch = {
      ...{ ...rest, left_uid, right_uid, left, right, score, linked, worth, owes: 0 },
      ...(isOverruled ? { overruled: true } : {}),
    }
    if (canonicalJson(next) !== canonicalJson(doc.value)) changed.push({ ...doc, value: next })
  }
  // A match that changed since it was read stays pending: putDocuments skips it.
  await putDocuments(call.store(entityMatches), changed)
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
