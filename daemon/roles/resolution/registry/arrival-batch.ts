// A batch of waiting records that the matching thread joins: what it reads from the store, and what it hands over.
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { joinLabels, type Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { RunMatch } from '../engine/findings.ts'
import { entityMatches } from '../entity-match/model.ts'
import { upsertMatches } from '../entity-match/upsert-matches.ts'
import { entityRecords, isWithdrawn, type StoredRecord } from '../entity-record/model.ts'
import type { RegistryKey } from '../fields.ts'
import type { TrainedLens } from '../lookup/trained-lens.ts'
import type { ClusteredUids, JoinableRef, MatchingAnswers } from '../matching-thread/matching-jobs.ts'
import { orderRefs } from '../order-refs.ts'
import type { ComparedUids } from './arrival-scores.ts'
import { listByValues } from './decision-reach.ts'
import { pairKey } from './record-key.ts'

export type StoredJoinableRecord = JoinableRef & { readonly doc: Doc<StoredRecord> }

type JoinedCluster = { readonly base: string; readonly members: readonly StoredJoinableRecord[] }

export class ArrivalBatch {
  readonly waiting: readonly StoredJoinableRecord[]
  readonly answers: MatchingAnswers
  clusters: readonly JoinedCluster[] = []
  readonly #call: Call
  readonly #registry: RegistryKey
  readonly #trained: TrainedLens
  readonly #records: Map<string, StoredJoinableRecord>
  readonly #clusterOf = new Map<string, JoinedCluster>()
  readonly #taken = new Set<string>()

  constructor(call: Call, registry: RegistryKey, trained: TrainedLens, waiting: readonly StoredJoinableRecord[]) {
    this.#call = call
    this.#registry = registry
    this.#trained = trained
    this.waiting = waiting
    this.#records = new Map(waiting.map((record) => [record.uid, record]))
    this.answers = {
      records_by_uid: async (uids) => this.#add(await this.#load(uids)),
      records_by_base: async (bases) =>
        this.#add(toJoinableRecords(await listByValues(call, entityRecords, registry, 'base', bases))),
      take_clusters: async (clusters) => this.#takeClusters(clusters),
      take_pairs: async (pairs) => await this.#publishMatches(pairs),
      former_pairs: async () => await this.#listFormerPairs(),
    }
  }

  /** Keeps the waiting records in the clusters that they are in. */
  keepApart(): void {
    this.clusters = this.waiting.map((record) => ({ base: record.base, members: [record] }))
  }

  #add(records: readonly StoredJoinableRecord[]): JoinableRef[] {
    for (const record of records) if (!this.#records.has(record.uid)) this.#records.set(record.uid, record)
    return records.map(toJoinableRef)
  }

  async #load(uids: readonly string[]): Promise<StoredJoinableRecord[]> {
    const docs = await Promise.all(uids.map((uid) => this.#call.store(entityRecords).find(uid)))
    const { tenant_id } = this.#registry
    return toJoinableRecords(docs.flatMap((doc) => (doc?.value.tenant_id === tenant_id ? [doc] : [])))
  }

  #takeClusters(clusters: readonly ClusteredUids[]): undefined {
    this.clusters = clusters.map(({ base, uids }) => ({
      base,
      members: uids.flatMap((uid) => this.#records.get(uid) ?? []),
    }))
    for (const cluster of this.clusters) for (const { uid } of cluster.members) this.#clusterOf.set(uid, cluster)
  }

  /** Lists pairs of earlier matches that no longer share keys. */
  async #listFormerPairs(): Promise<(readonly [string, string])[]> {
    const uids = this.waiting.map(({ uid }) => uid)
    const lefts = await listByValues(this.#call, entityMatches, this.#registry, 'left_uid', uids)
    const rights = await listByValues(this.#call, entityMatches, this.#registry, 'right_uid', uids)
    const former = new Map(
      [...lefts, ...rights].map(({ value: { left_uid, right_uid } }) => [
        pairKey(left_uid, right_uid),
        [left_uid, right_uid] as const,
      ]),
    )
    return [...former].flatMap(([key, pair]) => (this.#taken.has(key) ? [] : [pair]))
  }

  /** Writes each match under the joined label of its records. */
  async #publishMatches(pairs: readonly ComparedUids[]): Promise<undefined> {
    const unknown = new Set(pairs.flatMap(({ left, right }) => [left, right]).filter((uid) => !this.#records.has(uid)))
    this.#add(await this.#load([...unknown]))
    const byLabel = new Map<string, { readonly label: Label; readonly matches: RunMatch[] }>()
    for (const pair of pairs) {
      this.#taken.add(pairKey(pair.left, pair.right))
      const [left, right] = [this.#records.get(pair.left), this.#records.get(pair.right)]
      if (!left || !right) continue
      const label = this.#joinLabels(left, right)
      const group = byLabel.get(canonicalJson(label)) ?? { label, matches: [] }
      byLabel.set(canonicalJson(label), group)
      group.matches.push(this.#buildMatch(left, right, pair))
    }
    const { id: run_id, value } = this.#trained.run
    // Scores of single records are log-odds on any scale of the run.
    for (const { label, matches } of byLabel.values())
      await upsertMatches(this.#call, { ...value, run_id, label, scale: 'log_odds' }, matches)
    if (value.consensus) this.#call.wake('consult')
  }

  #buildMatch(
    one: StoredJoinableRecord,
    other: StoredJoinableRecord,
    { comparison: { score, parts }, found_by }: ComparedUids,
  ): RunMatch {
    const [left, right] = orderRefs(one.ref, other.ref)
    const inOrder = left === one.ref ? [one, other] : [other, one]
    const [leftCluster, rightCluster] = inOrder.map(({ uid }) => this.#clusterOf.get(uid))
    const { prior, floor } = this.#trained.weights
    return {
      ...{ left, right, score, levels: [...parts], found_by: [...found_by] },
      ...{ prior_bits: prior / Math.LN2, above: Math.max(0, score - floor) },
      ...{ linked: leftCluster !== undefined && leftCluster === rightCluster },
      ...{ left_size: leftCluster?.members.length ?? 1, right_size: rightCluster?.members.length ?? 1 },
    }
  }

  #joinLabels(left: StoredJoinableRecord, right: StoredJoinableRecord): Label {
    const { label } = left.doc.value
    return joinLabels(label, right.doc.value.label, this.#call.site.labels) ?? { ...label, releasable_to: [] }
  }
}

/** Leaves out records that were withdrawn since the index was read. */
function toJoinableRecords(docs: readonly Doc<StoredRecord>[]): StoredJoinableRecord[] {
  return docs.filter(({ value }) => !isWithdrawn(value)).map(toJoinableRecord)
}

export function toJoinableRecord(doc: Doc<StoredRecord>): StoredJoinableRecord {
  const { ref, base, found, arrived } = doc.value
  return { uid: doc.id, ref, base, runBase: arrived === undefined ? (found ?? base) : undefined, doc }
}

/** Without its document, which stays in the service. */
export function toJoinableRef({ uid, ref, base, runBase }: StoredJoinableRecord): JoinableRef {
  return { uid, ref, base, runBase }
}
