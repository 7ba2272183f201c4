// Applies decisions to clusters: recomputes the clusters of all records in reach, and writes them in an order that
// makes a repeat after a crash harmless.

import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { EntityChangeCause } from '../entity-change/model.ts'
import { entityMatches, type StoredMatch } from '../entity-match/model.ts'
import { deriveConstraint } from '../entity-match/rules.ts'
import { entityRecords, isWithdrawn, type StoredRecord } from '../entity-record/model.ts'
import { computeReviewWorth } from '../explain/review-worth.ts'
import type { RegistryKey } from '../fields.ts'
import { requestJob } from '../matching-thread/request-job.ts'
import { putDocuments, writeConcurrently } from '../upsert-documents.ts'
import { assignEntities } from './assign-entities.ts'
import type { DecidedClusters, DecisionInput } from './cluster-with-decisions.ts'
import { type DecisionReach, loadDecisionReach } from './decision-reach.ts'
import { allocateEntityId, findRevivedEntity, loadEntityAges } from './entity-ids.ts'
import { recordKey } from './record-key.ts'
import { type EntityOrigin, endMergedEntities, type TargetCluster, writeCluster } from './write-clusters.ts'

/** The lens and run of entities, and why they are clustered anew. */
export type ReclusterOrigin = EntityOrigin & { readonly cause: EntityChangeCause }

/**
 * Recomputes the entities of the seeds. Idempotent. Several seeds give the same result as each alone, since their reaches
 * are disjoint or equal. Entities are written before the records that name them, so that a repeat after a crash finds
 * them under the same ids. `origin`: the lens and run of created entities.
 */
export async function reclusterEntities(
  call: Call,
  registry: RegistryKey,
  { cause, ...origin }: ReclusterOrigin,
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
  await writeConcurrently(targets, (target) => writeCluster(call, registry, { origin, cause }, target, targets))
  const ended = [...old.keys()].filter((id) => !taken.has(id))
  await endMergedEntities(call, ended, targets, cause)
  await writeRecords(call, targets)
  await writeMatches(call, reach, targets, decided)
  call.wake('entity-changes')
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
