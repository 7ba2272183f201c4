// Writes what a run found as documents. Their ids follow from what they are about, so writing them again changes nothing.
import type { Call } from '../../../kernel/call.ts'
import { canonical } from '../../../kernel/canonical.ts'
import { join } from '../../../kernel/label.ts'
import type { BulkWrite, ScopedStore } from '../../../kernel/scoped-store.ts'
import type { Doc, Stored } from '../../../kernel/store.ts'
import { clusterUid, entityClusters, type StoredCluster } from '../entity-cluster/model.ts'
import { entityMatches, matchUid, type Score, type StoredMatch } from '../entity-match/model.ts'
import { maySitAgain } from '../entity-match/rules.ts'
import { recordUid } from '../entity-record/model.ts'
import { worthOf } from '../explain/worth.ts'
import type { RecordRef } from '../fields.ts'
import { type FoundMatch, runWork } from '../parts.ts'
import type { StoredRun } from './model.ts'

type Written<T> = { readonly id: string; readonly value: T }

type Batches<T> = AsyncIterable<readonly T[]> | Iterable<readonly T[]>

/** `signal`: aborted when the run is wanted no more. Throws its reason. `found`: what its phases left in files, unless said. */
export async function publishMatches(
  call: Call,
  run: Doc<StoredRun>,
  total: number,
  signal: AbortSignal,
  found: Batches<FoundMatch> = call.part(runWork).matches(run.id),
) {
  const store = call.store(entityMatches)
  let written = 0
  for await (const batch of found) {
    signal.throwIfAborted()
    await putAll(
      store,
      batch.map((each) => matchOf(call, run, each)),
      (before, now) => keptDecisions(call, before, now),
    )
    written += batch.length
    call.part(runWork).told(run.id, { phase: phaseOf(run), step: 'write matches', done: written, total })
  }
  if (run.value.consensus) call.wake('consult')
}

export async function publishClusters(
  call: Call,
  run: Doc<StoredRun>,
  total: number,
  signal: AbortSignal,
  found: Batches<readonly RecordRef[]> = call.part(runWork).clusters(run.id),
) {
  const store = call.store(entityClusters)
  let written = 0
  for await (const batch of found) {
    signal.throwIfAborted()
    await putAll(
      store,
      batch.map((members) => clusterOf(call, run, members)),
      (before, now) => sameEntity(call, before, now),
    )
    written += batch.length
    call.part(runWork).told(run.id, { phase: phaseOf(run), step: 'write clusters', done: written, total })
  }
}

function phaseOf({ value: { state } }: Doc<StoredRun>) {
  return state === 'matching' ? 'match' : 'resolve'
}

function whose({ id, value }: Doc<StoredRun>, at: string) {
  const { tenant_id, label, lens, lens_id, lens_version, entity_type } = value
  const times = { created_at: at, updated_at: at }
  return { tenant_id, label, lens, lens_id, lens_version, entity_type, run_id: id, ...times }
}

function matchOf(call: Call, run: Doc<StoredRun>, { score, ...found }: FoundMatch): Written<StoredMatch> {
  const { tenant_id, lens, scale, consensus } = run.value
  const told = scale === 'likeness' ? { likeness: score } : logOdds(score)
  const consult = isBetween(told, consensus) ? { policy: consensus.policy, invite: consensus.invite } : undefined
  const { left_size, right_size, above, ...rest } = found
  const value: StoredMatch = {
    ...whose(run, call.nowIso()),
    ...rest,
    score: told,
    rank: score,
    state: 'proposed',
    decided_by: 'engine',
    reviews: [],
    attestations: [],
    rulings: [],
    above,
    left_uid: recordUid(tenant_id, lens, found.left),
    right_uid: recordUid(tenant_id, lens, found.right),
    worth: told.probability === undefined ? 0 : worthOf(told.probability, { ...found, left_size, right_size }),
    owes: 0,
    asks: consult ? 1 : 0,
    ...(consult ? { consult } : {}),
  }
  return { id: matchUid(tenant_id, lens, found.left, found.right), value }
}

/** From natural logs. */
function logOdds(nats: number): Score {
  return { bits: nats / Math.LN2, probability: 1 / (1 + Math.exp(-nats)) }
}

function isBetween(score: Score, consensus: StoredRun['consensus']): consensus is NonNullable<StoredRun['consensus']> {
  const value = score.probability ?? score.likeness
  return consensus !== undefined && value !== undefined && value >= consensus.from && value <= consensus.to
}

function clusterOf(call: Call, run: Doc<StoredRun>, members: readonly RecordRef[]): Written<StoredCluster> {
  const [first] = members
  if (!first) throw new TypeError('a cluster has members')
  const value = {
    ...whose(run, call.nowIso()),
    state: 'live' as const,
    members: [...members],
    size: members.length,
    lineage: { merged_from: [] },
  }
  return { id: clusterUid(run.value.tenant_id, run.value.lens, first), value }
}

/** What people and consensus said of a match outlives the run, and so does its label. */
function keptDecisions(call: Call, before: StoredMatch, now: StoredMatch): StoredMatch {
  const { state, decided_by, reviews, attestations, rulings, created_at } = before
  const kept = { state, decided_by, reviews, attestations, rulings, created_at }
  const isAsked = now.asks === 1 && maySitAgain(before)
  const { consult, ...rest } = now
  return {
    ...{ ...rest, ...kept, label: jointLabel(call, before, now), owes: before.owes },
    worth: state === 'proposed' ? now.worth : 0,
    ...(isAsked && consult ? { asks: 1, consult } : { asks: before.asks }),
    ...(!isAsked && before.consult ? { consult: before.consult } : {}),
  }
}

function sameEntity(call: Call, before: StoredCluster, now: StoredCluster): StoredCluster {
  return { ...now, label: jointLabel(call, before, now), lineage: before.lineage, created_at: before.created_at }
}

function jointLabel(call: Call, before: StoredMatch | StoredCluster, now: StoredMatch | StoredCluster) {
  return join(before.label, now.label, call.site.labels) ?? before.label
}

/** Creates what is not there and merges into what is, unless that says the same already. */
async function putAll<T extends Stored & { updated_at: string }>(
  store: ScopedStore<T>,
  given: readonly Written<T>[],
  merge: (before: T, now: T) => T,
): Promise<void> {
  let left = given
  let writes: BulkWrite<T>[] = given.map(({ id, value }) => ({ do: 'create', id, value }))
  while (writes.length > 0) {
    const outcomes = await store.bulk(writes)
    const undone = new Set(writes.flatMap(({ id }, at) => (outcomes[at] === 'done' ? [] : [id])))
    left = left.filter(({ id }) => undone.has(id))
    writes = (await Promise.all(left.map((each) => mergedWrite(store, each, merge)))).filter(
      (write) => write !== undefined,
    )
  }
}

async function mergedWrite<T extends Stored & { updated_at: string }>(
  store: ScopedStore<T>,
  { id, value }: Written<T>,
  merge: (before: T, now: T) => T,
): Promise<BulkWrite<T> | undefined> {
  const before = await store.find(id)
  if (!before) return { do: 'create', id, value }
  const next = merge(before.value, value)
  const isSame = canonical({ ...next, updated_at: '' }) === canonical({ ...before.value, updated_at: '' })
  return isSame ? undefined : { do: 'put', id, value: next, version: before.version }
}
