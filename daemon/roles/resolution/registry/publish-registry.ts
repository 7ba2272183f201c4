// Publishes the clusters of a run in the registry: entities keep their ids, and decisions take precedence over the
// engine.

import { joinLabels, type LabelPolicy } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { RunCluster } from '../engine/findings.ts'
import { isSameRecord } from '../engine/lookup/is-same-record.ts'
import { formOf } from '../engine/text/text-form.ts'
import { pickLogFields, recordEntityChange } from '../entity-change/recorded-changes.ts'
import { clusterUid, entityClusters, type StoredCluster } from '../entity-cluster/model.ts'
import { entityMatches } from '../entity-match/model.ts'
import { entityRecords, isWithdrawn, recordUid, type StoredRecord } from '../entity-record/model.ts'
import { writeNumbered } from '../entity-record/write-numbered.ts'
import type { StoredRun } from '../fusion-run/model.ts'
import { runWork } from '../parts.ts'
import { type DocumentUpsert, upsertDocuments } from '../upsert-documents.ts'
import { reclusterBatch } from './recluster-batch.ts'
import { reclusterEntities } from './recluster-entities.ts'
import { hasSameMembers } from './record-key.ts'
import { hasArrivedSince, requeueArrivals } from './requeue-arrivals.ts'

/** A cluster of the engine with its records, before and after the run. */
type EngineCluster = {
  readonly records: readonly (DocumentUpsert<StoredRecord> & { readonly before: Doc<StoredRecord> | undefined })[]
  /** The entity, if it depends on the run alone; undefined where decisions, merges or splits must be applied. */
  readonly entity: DocumentUpsert<StoredCluster> | undefined
}

/**
 * Writes new and unchanged clusters in bulk, and reclusters entities with a decision, a merge or a split, a hundred at a
 * time. May be repeated after a crash. `signal` is aborted when the run has ended.
 */
export async function publishRegistry(
  call: Call,
  run: Doc<StoredRun>,
  total: number,
  signal: AbortSignal,
): Promise<void> {
  const decided = await findDecidedRecords(call, run)
  const seeds: string[] = []
  let written = 0
  const report = (step: string, done: number, steps: number) =>
    call.part(runWork).reportProgress(run.id, { phase: 'resolve', step, done, total: steps })
  for await (const batch of call.part(runWork).clusters(run.id)) {
    signal.throwIfAborted()
    const built = await Promise.all(batch.map((cluster) => buildEngineCluster(call, run, cluster, decided)))
    const clusters = built.filter((cluster) => cluster.records.length > 0)
    // Entities are written before the records that name them, so that a repeat after a crash finds them.
    const changed = new Set<StoredCluster>()
    await upsertDocuments(
      call.store(entityClusters),
      clusters.flatMap(({ entity }) => entity ?? []),
      (before, next) => {
        const merged = mergeUnchangedEntity(before, next, call.site.labels)
        if (!merged) changed.add(next)
        return merged ?? before
      },
    )
    const settled = clusters.map((cluster) => releaseChangedEntity(cluster, changed))
    const records = settled.flatMap((cluster) => cluster.records)
    const withdrawn = new Set<string>()
    await writeNumbered(call, run.value, (writeNumber) =>
      upsertDocuments(
        call.store(entityRecords),
        records.map(({ id, value }) => ({ id, value: { ...value, written: writeNumber } })),
        (before, next) => {
          if (isWithdrawn(before)) withdrawn.add(recordUid(before.tenant_id, before.lens, before.ref))
          return isWithdrawn(before) || hasArrivedSince(run, before) ? before : next
        },
      ),
    )
    seeds.push(...settled.flatMap((cluster) => listSeeds(cluster, withdrawn)))
    written += batch.length
    report('write clusters', written, total)
  }
  const { tenant_id, lens, lens_id, lens_version, entity_type } = run.value
  const cause = { kind: 'run' as const, run_id: run.id }
  const origin = { lens, lens_id, lens_version, entity_type, run_id: run.id, cause }
  const recluster = (batch: readonly string[]) => reclusterEntities(call, { tenant_id, lens }, origin, batch)
  for (let at = 0; at < seeds.length; at += max_batch_clusters) {
    signal.throwIfAborted()
    await reclusterBatch(recluster, seeds.slice(at, at + max_batch_clusters))
    report('recluster entities', Math.min(at + max_batch_clusters, seeds.length), seeds.length)
  }
  await requeueDecisions(call, run)
  await requeueArrivals(call, run)
  call.wake('entity-changes')
}

/**
 * An entity that exists has its changes already, also when this is a repeat. Undefined for one that was changed meanwhile,
 * which must be clustered anew so that what it loses or gains is recorded.
 */
export function mergeUnchangedEntity(
  before: StoredCluster,
  next: StoredCluster,
  policy: LabelPolicy,
): StoredCluster | undefined {
  if (before.state !== 'live' || !hasSameMembers(before.members, next.members)) return undefined
  const { changes: _changes, unlogged_changes: _unlogged_changes, unlogged: _unlogged, ...rest } = next
  const label = joinLabels(before.label, next.label, policy) ?? before.label
  return { ...rest, label, lineage: before.lineage, created_at: before.created_at, ...pickLogFields(before) }
}

/** The records of an entity that was changed meanwhile stay in those that they were in. */
function releaseChangedEntity(cluster: EngineCluster, changed: ReadonlySet<StoredCluster>): EngineCluster {
  if (!cluster.entity || !changed.has(cluster.entity.value)) return cluster
  const records = cluster.records.map(({ id, before, value: { entity: _entity, ...value } }) => {
    const entity = before?.value.entity
    return { id, before, value: entity === undefined ? value : { ...value, entity } }
  })
  return { records, entity: undefined }
}

const max_batch_clusters = 100

/** A record that was withdrawn while its cluster was written is still in the entity of the others. */
function listSeeds({ records, entity }: EngineCluster, withdrawn: ReadonlySet<string>): string[] {
  const rest = records.filter(({ id }) => !withdrawn.has(id))
  if (rest.length < records.length) return rest.map(({ id }) => id)
  return entity === undefined ? rest.slice(0, 1).map(({ id }) => id) : []
}

async function buildEngineCluster(
  call: Call,
  run: Doc<StoredRun>,
  cluster: RunCluster,
  decided: ReadonlySet<string>,
): Promise<EngineCluster> {
  const { tenant_id, lens, label } = run.value
  const at = call.nowIso()
  const members = await loadMembers(call, run, cluster)
  const uids = members.map(({ uid }) => uid)
  const docs = members.map(({ before }) => before)
  const [base = ''] = uids
  const records = members.map(({ ref, values, before, uid }) => {
    const joined = before ? (joinLabels(before.value.label, label, call.site.labels) ?? before.value.label) : label
    const entityField = before?.value.entity === undefined ? {} : { entity: before.value.entity }
    const values_at = before && isSameRecord(before.value.values, values) ? before.value.values_at : at
    const times = { ...(values_at === undefined ? {} : { values_at }), updated_at: at }
    const value = {
      tenant_id,
      label: joined,
      lens,
      ref,
      values,
      ...formOf(values),
      base,
      ...entityField,
      run_id: run.id,
      ...times,
    }
    return { id: uid, value, before }
  })
  const isPlain = !uids.some((uid) => decided.has(uid)) && !docs.some((doc) => doc && hasArrivedSince(run, doc.value))
  const entity = isPlain ? await buildPlainEntity(call, run, records) : undefined
  if (!entity) return { records, entity }
  return {
    records: records.map((record) => ({ ...record, value: { ...record.value, entity: entity.id } })),
    entity,
  }
}

/** Loads the records of a cluster, but those that are withdrawn: the run read them before they were. */
async function loadMembers(call: Call, { value: { tenant_id, lens } }: Doc<StoredRun>, cluster: RunCluster) {
  const members = await Promise.all(
    cluster.map(async (member) => {
      const uid = recordUid(tenant_id, lens, member.ref)
      return { ...member, uid, before: await call.store(entityRecords).find(uid) }
    }),
  )
  return members.filter(({ before }) => !before || !isWithdrawn(before.value))
}

async function buildPlainEntity(
  call: Call,
  run: Doc<StoredRun>,
  records: EngineCluster['records'],
): Promise<DocumentUpsert<StoredCluster> | undefined> {
  const [first] = records
  if (!first) return undefined
  const { tenant_id, lens, lens_id, lens_version, entity_type, label } = run.value
  const entities = new Set(records.map(({ value }) => value.entity))
  const isNew = records.every(({ before }) => before === undefined)
  const id = isNew ? clusterUid(tenant_id, lens, first.value.ref) : [...entities][0]
  if (id === undefined || entities.size > 1) return undefined
  const existing = await call.store(entityClusters).find(id)
  if (!isNew && !existing) return undefined
  if (existing && !isUnchanged(existing.value, records)) return undefined
  const at = call.nowIso()
  const members = records.map(({ value }) => value.ref)
  const joined = existing ? (joinLabels(existing.value.label, label, call.site.labels) ?? existing.value.label) : label
  const value: StoredCluster = {
    ...{ tenant_id, label: joined, lens, lens_id, lens_version, entity_type, run_id: run.id, state: 'live' },
    ...{ members, size: members.length, lineage: { merged_from: [] }, created_at: at, updated_at: at },
  }
  const cause = { kind: 'run' as const, run_id: run.id }
  return { id, value: existing ? value : recordEntityChange(undefined, value, { at, cause }) }
}

function isUnchanged({ state, members }: StoredCluster, records: EngineCluster['records']): boolean {
  const refs = records.map(({ value }) => value.ref)
  return state === 'live' && hasSameMembers(members, refs)
}

/** Finds the uids of the records of decided matches. */
async function findDecidedRecords(call: Call, run: Doc<StoredRun>): Promise<Set<string>> {
  const uids = new Set<string>()
  for await (const { value } of iterateDecidedMatches(call, run)) uids.add(value.left_uid).add(value.right_uid)
  return uids
}

/** Requeues all decisions: a decision made during the writes may have been applied to the former clusters. */
async function requeueDecisions(call: Call, run: Doc<StoredRun>): Promise<void> {
  for await (const { id } of iterateDecidedMatches(call, run)) {
    await call
      .store(entityMatches)
      .update(id, ({ value }) =>
        value.owes ? { answer: undefined } : { next: { ...value, owes: 1 }, answer: undefined },
      )
  }
}

function iterateDecidedMatches(call: Call, { value: { tenant_id, lens } }: Doc<StoredRun>) {
  const filter = { tenant_id, lens, state: { in: ['confirmed', 'rejected'] } }
  return iterateDocuments(call.store(entityMatches), { filter, fresh: true })
}
