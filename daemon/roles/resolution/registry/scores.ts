// How much records that came speak for being one with others: scored by what the latest run learnt, each pair once.
import { type Compared, comparedWith, isByWords } from '../engine/lookup/compare.ts'
import type { LookupIndex } from '../engine/lookup/keyed-records.ts'
import type { Values } from '../engine/lookup/keys.ts'
import type { LookupWeights } from '../engine/lookup/weights.ts'
import type { RecordRef } from '../fields.ts'
import type { Lens } from '../lens/model.ts'

export type Arriving = {
  readonly uid: string
  readonly ref: RecordRef
  readonly values: Values
  /** The cluster that it is in. */
  readonly base: string
  /** The one that the run found; undefined for a record that came since. */
  readonly found: string | undefined
}

export type Matching = {
  readonly lens: Lens
  readonly weights: LookupWeights
  readonly method: NonNullable<Lens['clustering']>
  /** Whether the run was over one source: then records of one node may be partners, one to one. */
  readonly isOneSource: boolean
  /** With every record of the registry, those that arrive included. */
  readonly index: LookupIndex
  /** Pairs that were decided not to be one, where nothing else keeps them apart. */
  readonly isApart?: (one: Arriving, other: Arriving) => boolean
}

export type ScoredPair = { readonly one: Arriving; readonly other: Arriving; readonly compared: Compared }

const most_candidates = 200
/** Records of a cluster that are compared; the first ones in order. */
const most_members = 100

/**
 * Scores of pairs, each the same for whoever asks: where how alike two texts are depends on what else is compared, two
 * records are compared alone, the first with the second.
 */
export class Scores {
  readonly #of: Matching
  readonly #isAlone: boolean
  readonly #compared = new Map<string, Compared>()
  readonly #pairs = new Map<string, ScoredPair>()
  readonly #near = new Map<string, readonly { uid: string; score: number }[]>()
  readonly #sums = new Map<string, number>()

  constructor(of: Matching) {
    this.#of = of
    this.#isAlone = of.lens.fields.some(isByWords)
  }

  /** Records that share keys with this one, the best first. */
  near(record: Arriving): readonly { readonly uid: string; readonly score: number }[] {
    const known = this.#near.get(record.uid)
    if (known) return known
    const found = this.#of.index.near(record.values, most_candidates).filter(({ uid }) => uid !== record.uid)
    const compared = this.#compare(record, found)
    const near = found.map(({ uid }, at) => ({ uid, score: compared[at]?.score ?? 0 }))
    near.sort((one, other) => other.score - one.score || (one.uid < other.uid ? -1 : 1))
    this.#near.set(record.uid, near)
    if (!this.#isAlone) this.#keep(record, found, compared)
    return near
  }

  /** Undefined for records that the lens never compares. */
  between(one: Arriving, other: Arriving): Compared | undefined {
    const { lens, method, isOneSource } = this.#of
    const isSameNode = one.ref.node_id === other.ref.node_id
    if (isSameNode && (lens.link_only || (method === 'one_to_one' && !isOneSource))) return undefined
    const [left, right] = one.uid < other.uid ? [one, other] : [other, one]
    const key = keyOf(left, right)
    if (!this.#compared.has(key)) this.#keep(left, [right], this.#compare(left, [right]))
    const compared = this.#compared.get(key)
    if (compared) this.#pairs.set(key, { one: left, other: right, compared })
    return compared
  }

  /** Of two clusters how far all pairs are above the lowest that counts, each no further than one pair counts. */
  sum(one: string, ones: readonly Arriving[], other: string, others: readonly Arriving[]) {
    const [mine, theirs] = [ones.slice(0, most_members), others.slice(0, most_members)]
    const key = one < other ? `${one} ${other}` : `${other} ${one}`
    const sum = this.#sums.get(key) ?? this.#summed(mine, theirs)
    this.#sums.set(key, sum)
    return { sum, pairs: mine.length * theirs.length }
  }

  #summed(ones: readonly Arriving[], others: readonly Arriving[]): number {
    const { floor, highest } = this.#of.weights
    let sum = 0
    for (const one of ones) {
      const unknown = others.filter((other) => !this.#compared.has(keyOf(one, other)))
      if (!this.#isAlone && unknown.length > 1) this.#keep(one, unknown, this.#compare(one, unknown))
      for (const other of others) {
        sum += Math.max(0, Math.min(highest, this.between(one, other)?.score ?? floor) - floor)
      }
    }
    return sum
  }

  #compare({ values }: Arriving, others: readonly { readonly values: Values }[]): Compared[] {
    const { lens, weights, index } = this.#of
    const theirs = others.map((other) => other.values)
    return comparedWith(lens, weights, index, values, theirs)
  }

  #keep(one: { uid: string }, others: readonly { readonly uid: string }[], compared: readonly Compared[]): void {
    for (const [at, other] of others.entries()) {
      const found = compared[at]
      if (found && !this.#compared.has(keyOf(one, other))) this.#compared.set(keyOf(one, other), found)
    }
  }

  /** Those of `of` that were scored, and say something or are in one cluster. */
  pairs(
    of: ReadonlySet<string>,
    clusters: readonly { readonly base: string; readonly members: readonly Arriving[] }[],
    floor: number,
  ): ScoredPair[] {
    const clusterOf = new Map(clusters.flatMap(({ base, members }) => members.map(({ uid }) => [uid, base] as const)))
    return [...this.#pairs.values()].filter(({ one, other, compared }) => {
      if (!of.has(one.uid) && !of.has(other.uid)) return false
      return compared.score > floor || clusterOf.get(one.uid) === clusterOf.get(other.uid)
    })
  }
}

function keyOf(one: { readonly uid: string }, other: { readonly uid: string }): string {
  return one.uid < other.uid ? `${one.uid} ${other.uid}` : `${other.uid} ${one.uid}`
}
