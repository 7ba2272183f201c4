// Scores arrived records against others with the weights of the latest run, each pair once.
import { compareRecord, comparesByWords, type RecordComparison } from '../engine/lookup/compare.ts'
import type { FieldValues } from '../engine/lookup/keys.ts'
import type { LookupIndex } from '../engine/lookup/lookup-index.ts'
import type { LookupWeights } from '../engine/lookup/weights.ts'
import type { RecordRef } from '../fields.ts'
import type { Lens } from '../lens/model.ts'

export type JoinableRecord = {
  readonly uid: string
  readonly ref: RecordRef
  readonly values: FieldValues
  /** The cluster that the record is in now. */
  readonly base: string
  /** The cluster that the run found; undefined for a record that arrived since. */
  readonly found: string | undefined
}

export type ArrivalMatching = {
  readonly lens: Lens
  readonly weights: LookupWeights
  readonly method: NonNullable<Lens['clustering']>
  /** Whether the run had one source: then one-to-one may pair records of one node. */
  readonly isOneSource: boolean
  /** Holds every record of the registry, including those that arrive. */
  readonly index: LookupIndex
  /** Whether a decision keeps the pair apart, where nothing else does. */
  readonly isApart?: (one: JoinableRecord, other: JoinableRecord) => boolean
}

export type ScoredRecordPair = {
  readonly one: JoinableRecord
  readonly other: JoinableRecord
  readonly compared: RecordComparison
}

const max_candidates = 200
/** The first records of a cluster in order are compared, and no more. */
const max_members = 100

/**
 * Scores of pairs, independent of the order of queries: where the similarity of texts depends on the other texts
 * compared, two records are compared alone, the first with the second.
 */
export class ArrivalScores {
  readonly #matching: ArrivalMatching
  readonly #comparesSingly: boolean
  readonly #compared = new Map<string, RecordComparison>()
  readonly #pairs = new Map<string, ScoredRecordPair>()
  readonly #candidates = new Map<string, readonly { uid: string; score: number }[]>()
  readonly #sums = new Map<string, number>()

  constructor(of: ArrivalMatching) {
    this.#matching = of
    this.#comparesSingly = of.lens.fields.some(comparesByWords)
  }

  /** Records that share keys with this one, the best first. */
  findCandidates(record: JoinableRecord): readonly { readonly uid: string; readonly score: number }[] {
    const known = this.#candidates.get(record.uid)
    if (known) return known
    const found = this.#matching.index
      .findCandidates(record.values, max_candidates)
      .filter(({ uid }) => uid !== record.uid)
    const compared = this.#compare(record, found)
    const near = found.map(({ uid }, at) => ({ uid, score: compared[at]?.score ?? 0 }))
    near.sort((one, other) => other.score - one.score || (one.uid < other.uid ? -1 : 1))
    this.#candidates.set(record.uid, near)
    if (!this.#comparesSingly) this.#remember(record, found, compared)
    return near
  }

  /** Undefined for records that the lens never compares. */
  scorePair(one: JoinableRecord, other: JoinableRecord): RecordComparison | undefined {
    const { lens, method, isOneSource } = this.#matching
    const isSameNode = one.ref.node_id === other.ref.node_id
    if (isSameNode && (lens.link_only || (method === 'one_to_one' && !isOneSource))) return undefined
    const [left, right] = one.uid < other.uid ? [one, other] : [other, one]
    const key = pairKey(left.uid, right.uid)
    if (!this.#compared.has(key)) this.#remember(left, [right], this.#compare(left, [right]))
    const compared = this.#compared.get(key)
    if (compared) this.#pairs.set(key, { one: left, other: right, compared })
    return compared
  }

  /** Sums over all pairs of two clusters how far the score is above the floor, each capped at the highest weight. */
  sumScores(one: string, ones: readonly JoinableRecord[], other: string, others: readonly JoinableRecord[]) {
    const [mine, theirs] = [ones.slice(0, max_members), others.slice(0, max_members)]
    const key = pairKey(one, other)
    const sum = this.#sums.get(key) ?? this.#computeSum(mine, theirs)
    this.#sums.set(key, sum)
    return { sum, pairs: mine.length * theirs.length }
  }

  #computeSum(ones: readonly JoinableRecord[], others: readonly JoinableRecord[]): number {
    const { floor, highest } = this.#matching.weights
    let sum = 0
    for (const one of ones) {
      const unknown = others.filter((other) => !this.#compared.has(pairKey(one.uid, other.uid)))
      if (!this.#comparesSingly && unknown.length > 1) this.#remember(one, unknown, this.#compare(one, unknown))
      for (const other of others) {
        sum += Math.max(0, Math.min(highest, this.scorePair(one, other)?.score ?? floor) - floor)
      }
    }
    return sum
  }

  #compare({ values }: JoinableRecord, others: readonly { readonly values: FieldValues }[]): RecordComparison[] {
    const { lens, weights, index } = this.#matching
    const theirs = others.map((other) => other.values)
    return compareRecord(lens, weights, index, values, theirs)
  }

  #remember(
    one: { uid: string },
    others: readonly { readonly uid: string }[],
    compared: readonly RecordComparison[],
  ): void {
    for (const [at, other] of others.entries()) {
      const found = compared[at]
      if (found && !this.#compared.has(pairKey(one.uid, other.uid)))
        this.#compared.set(pairKey(one.uid, other.uid), found)
    }
  }

  /** Scored pairs with a record of `of` that are above the floor or within one cluster. */
  listPairs(
    of: ReadonlySet<string>,
    clusters: readonly { readonly base: string; readonly members: readonly JoinableRecord[] }[],
    floor: number,
  ): ScoredRecordPair[] {
    const clusterOf = new Map(clusters.flatMap(({ base, members }) => members.map(({ uid }) => [uid, base] as const)))
    return [...this.#pairs.values()].filter(({ one, other, compared }) => {
      if (!of.has(one.uid) && !of.has(other.uid)) return false
      return compared.score > floor || clusterOf.get(one.uid) === clusterOf.get(other.uid)
    })
  }
}

/** The same key whichever comes first. */
export function pairKey(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`
}
