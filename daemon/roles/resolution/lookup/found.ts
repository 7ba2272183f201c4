// The entities that a record may belong to: candidates by its keys, then each entity by all its records.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import { type Compared, comparedWith } from '../engine/lookup/compare.ts'
import type { Values } from '../engine/lookup/keys.ts'
import { entityClusters, type StoredCluster } from '../entity-cluster/model.ts'
import { entityRecords, recordUid, type StoredRecord } from '../entity-record/model.ts'
import type { RecordRef } from '../fields.ts'
import { lookupsPart } from '../parts.ts'
import type { Learnt } from './learnt.ts'

const most_candidates = 200
/** Records of one entity that are compared; the first ones in order. */
const most_members = 100

export type Beside = { readonly record: Doc<StoredRecord>; readonly compared: Compared }

export type FoundEntity = {
  readonly cluster: Doc<StoredCluster>
  /** Its record that is most alike. */
  readonly best: Beside
  /** In natural logs: what decides, which is the mean over its records where the lens joins by average link. */
  readonly score: number
  readonly isAbove: boolean
}

export type Wanted = {
  readonly values: Values
  /** The record itself, if the registry may have it: it is no candidate for itself. */
  readonly ref?: RecordRef | undefined
  readonly limit: number
}

/**
 * The best first. What the index names is read again under the caller's clearance, so that nothing is told which that does not allow
 * now, and each record counts for the entity that it is now.
 */
export async function entitiesFor(
  call: Call,
  learnt: Learnt,
  { values, ref, limit }: Wanted,
): Promise<FoundEntity[] | Refused> {
  const index = await call.part(lookupsPart).of(call, learnt)
  if (isRefused(index)) return index
  const { tenant_id, lens } = learnt.run.value
  const self = ref && recordUid(tenant_id, lens, ref)
  const near = index.near(values, most_candidates).filter(({ uid }) => uid !== self)
  const compare = (others: readonly Values[]) =>
    comparedWith(learnt.lens.value.body, learnt.weights, index, values, others)
  const scores = compare(near.map((each) => each.values))
  const ranked = near.map(({ uid }, at) => ({ uid, score: scores[at]?.score ?? 0 }))
  ranked.sort((one, other) => other.score - one.score || (one.uid < other.uid ? -1 : 1))
  const clusters = await clustersOf(call, ranked, limit)
  const found = await Promise.all(clusters.map((cluster) => besides(call, learnt, cluster, ref, compare)))
  const mayBe = found.flatMap((each) => each ?? [])
  return mayBe.sort((one, other) => other.score - one.score || (one.cluster.id < other.cluster.id ? -1 : 1))
}

/** The first entities that the caller may see, in the order of their best records. */
async function clustersOf(
  call: Call,
  ranked: readonly { readonly uid: string }[],
  limit: number,
): Promise<Doc<StoredCluster>[]> {
  const found = new Map<string, Doc<StoredCluster>>()
  for (const { uid } of ranked) {
    if (found.size === limit) break
    const entity = (await call.store(entityRecords).find(uid))?.value.entity
    const cluster =
      entity === undefined || found.has(entity) ? undefined : await call.store(entityClusters).find(entity)
    if (cluster?.value.state === 'live') found.set(cluster.id, cluster)
  }
  return [...found.values()]
}

async function besides(
  call: Call,
  learnt: Learnt,
  cluster: Doc<StoredCluster>,
  ref: RecordRef | undefined,
  compare: (others: readonly Values[]) => Compared[],
): Promise<FoundEntity | undefined> {
  const { tenant_id, lens, members } = cluster.value
  const uids = members.filter(isOther(learnt, ref)).map((each) => recordUid(tenant_id, lens, each))
  const read = await Promise.all(uids.slice(0, most_members).map((uid) => call.store(entityRecords).find(uid)))
  const records = read.flatMap((doc) => doc ?? [])
  const compared = compare(records.map(({ value }) => value.values))
  let best: Beside | undefined
  for (const [at, record] of records.entries()) {
    const each = compared[at]
    if (each && (!best || each.score > best.compared.score)) best = { record, compared: each }
  }
  if (!best) return undefined
  const score = scoreOf(learnt, best.compared.score, compared)
  return { cluster, best, score, isAbove: score >= learnt.weights.cut }
}

/** As clusters come about: the mean of bounded scores by average link, the best pair by every other method. */
function scoreOf({ lens, run, weights }: Learnt, best: number, compared: readonly Compared[]): number {
  const isMean = run.value.route !== 'links' && (lens.value.body.clustering ?? 'average_link') === 'average_link'
  if (!isMean || compared.length === 1) return best
  const bounded = compared.map(({ score }) => Math.max(weights.floor, Math.min(weights.highest, score)))
  return bounded.reduce((sum, each) => sum + each, 0) / bounded.length
}

/** Not the record itself, and where records of one source are never compared, none of the same node. */
function isOther({ lens }: Learnt, ref: RecordRef | undefined): (member: RecordRef) => boolean {
  if (!ref) return () => true
  if (lens.value.body.link_only) return ({ node_id }) => node_id !== ref.node_id
  return ({ node_id, record_id }) => node_id !== ref.node_id || record_id !== ref.record_id
}
