// Scores arrived records against other records with the weights of the latest run, each pair once.
import { compareRecord, comparesByWords, hasEvidence, type RecordComparison } from '../engine/lookup/compare.ts'
import type { FieldValues } from '../engine/lookup/keys.ts'
import type { LookupIndex } from '../engine/lookup/lookup-index.ts'
import type { LookupWeights } from '../engine/lookup/weights.ts'
import type { RecordRef } from '../fields.ts'
import type { Lens } from '../lens/model.ts'
import { pairKey } from './record-key.ts'

export type JoinableRecord = {
  readonly uid: string
  readonly ref: RecordRef
  readonly values: FieldValues
  /** The cluster that the record is in now. */
  readonly base: string
  /** The cluster of the run; undefined for a record that arrived since. */
  readonly runBase: string | undefined
}

export type ArrivalMatching = {
  readonly lens: Lens
  readonly weights: LookupWeights
  readonly method: NonNullable<Lens['clustering']>
  /** Whether the run had one source: then one-to-one may pair records of one node. */
  readonly isOneSource: boolean
  /** Has every record of the registry, including the arriving ones. */
  readonly index: LookupIndex
  /** Whether a decision keeps the pair apart. */
  readonly isApart?: (left: JoinableRecord, right: JoinableRecord) => boolean
}

export type ScoredRecordPair = {
  readonly left: JoinableRecord
  readonly right: JoinableRecord
  readonly comparison: RecordComparison
}

/** A scored pair by the uids of its records, and the keys by which it was found. */
export type ComparedUids = {
  readonly left: string
  readonly right: string
  readonly comparison: RecordComparison
  readonly found_by: readonly string[]
}

const max_candidates = 200
/** Limit of compared records of a cluster; the first ones in order are compared. */
const max_members = 100

/**
 * Caches scores of pairs, independent of the order of queries. Where the similarity of texts depends on the other texts
 * of a comparison, two records are compared separately, the first with the second.
 */
export class ArrivalScores {
  readonly #matching: ArrivalMatching
  readonly #comparesSingly: boolean
  readonly #comparisons = new Map<string, RecordComparison>()
  readonly #pairs = new Map<string, ScoredRecordPair>()
  readonly #candidates = new Map<string, readonly { uid: string; score: number }[]>()
  readonly #sums = new Map<string, number>()

  constructor(matching: ArrivalMatching) {
    this.#matching = matching
    this.#comparesSingly = matching.lens.fields.some(comparesByWords)
  }

  /** Finds records that share keys with this one, best first. */
  findCandidates(record: JoinableRecord): readonly { readonly uid: string; readonly score: number }[] {
    const cached = this.#candidates.get(record.uid)
    if (cached) return cached
    const others = this.#matching.index
      .findCandidates(record.values, max_candidates)
      .filter(({ uid }) => uid !== record.uid)
    const comparisons = this.#compare(record, others)
    const candidates = others.map(({ uid }, at) => ({ uid, score: comparisons[at]?.score ?? 0 }))
    candidates.sort((a, b) => b.score - a.score || (a.uid < b.uid ? -1 : 1))
    this.#candidates.set(record.uid, candidates)
    if (!this.#comparesSingly) this.#remember(record, others, comparisons)
    return candidates
  }

  /** Scores a pair; undefined for records that the lens never compares. */
  scorePair(first: JoinableRecord, second: JoinableRecord): RecordComparison | undefined {
    const { lens, method, isOneSource } = this.#matching
    const isSameNode = first.ref.node_id === second.ref.node_id
    if (isSameNode && (lens.link_only || (method === 'one_to_one' && !isOneSource))) return undefined
    const [left, right] = first.uid < second.uid ? [first, second] : [second, first]
    const key = pairKey(left.uid, right.uid)
    if (!this.#comparisons.has(key)) this.#remember(left, [right], this.#compare(left, [right]))
    const comparison = this.#comparisons.get(key)
    if (comparison) this.#pairs.set(key, { left, right, comparison })
    return comparison
  }

  /** Sums the heights of scores above the floor over all pairs of two clusters, each capped at the highest weight. */
  async sumScores(
    leftName: string,
    leftMembers: readonly JoinableRecord[],
    rightName: string,
    rightMembers: readonly JoinableRecord[],
    pause: () => Promise<void>,
  ): Promise<{ readonly sum: number; readonly pairs: number }> {
    const [left, right] = [leftMembers.slice(0, max_members), rightMembers.slice(0, max_members)]
    const key = pairKey(leftName, rightName)
    const sum = this.#sums.get(key) ?? (await this.#computeSum(left, right, pause))
    this.#sums.set(key, sum)
    return { sum, pairs: left.length * right.length }
  }

  async #computeSum(
    lefts: readonly JoinableRecord[],
    rights: readonly JoinableRecord[],
    pause: () => Promise<void>,
  ): Promise<number> {
    let sum = 0
    for (const left of lefts) {
      const missing = rights.filter((right) => !this.#comparisons.has(pairKey(left.uid, right.uid)))
      if (!this.#comparesSingly && missing.length > 1) this.#remember(left, missing, this.#compare(left, missing))
      for (const right of rights) sum += this.#heightOf(left, right)
      await pause()
    }
    return sum
  }

  #heightOf(first: JoinableRecord, second: JoinableRecord): number {
    const { lens, weights } = this.#matching
    const comparison = this.scorePair(first, second)
    if (!comparison || !hasEvidence(lens, comparison)) return 0
    return Math.max(0, Math.min(weights.highest, comparison.score) - weights.floor)
  }

  #compare({ values }: JoinableRecord, others: readonly { readonly values: FieldValues }[]): RecordComparison[] {
    const { lens, weights, index } = this.#matching
    const otherValues = others.map((other) => other.values)
    return compareRecord(lens, weights, index, values, otherValues)
  }

  #remember(
    record: { uid: string },
    others: readonly { readonly uid: string }[],
    comparisons: readonly RecordComparison[],
  ): void {
    for (const [at, other] of others.entries()) {
      const comparison = comparisons[at]
      const key = pairKey(record.uid, other.uid)
      if (comparison && !this.#comparisons.has(key)) this.#comparisons.set(key, comparison)
    }
  }

  /** Lists scored pairs with one of the records `uids`, if they are above the floor or within one cluster. */
  listPairs(
    uids: ReadonlySet<string>,
    clusters: readonly { readonly base: string; readonly members: readonly JoinableRecord[] }[],
    floor: number,
  ): ScoredRecordPair[] {
    const clusterOf = new Map(clusters.flatMap(({ base, members }) => members.map(({ uid }) => [uid, base] as const)))
    return [...this.#pairs.values()].filter(({ left, right, comparison }) => {
      if (!uids.has(left.uid) && !uids.has(right.uid)) return false
      return comparison.score > floor || clusterOf.get(left.uid) === clusterOf.get(right.uid)
    })
  }
}
