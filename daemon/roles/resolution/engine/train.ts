// Learns what levels are worth, without labels or from them, in the form that a lens keeps.
import type { Lens } from '../lens/model.ts'
import type { Comparing } from './compare/pairs.ts'
import { type Compared, PairList } from './compare/patterns.ts'
import type { Tell } from './progress.ts'
import { LensFault, type Records } from './records/records.ts'
import { givenFor, resolve } from './resolve.ts'
import { gathered, rounds, untrained } from './resolve-clusters.ts'
import { frequencies, learned, type Model, probabilities, scoresOf, weightsOf } from './score/model.ts'

/** `m` and `u` of each level of a field, and the bits that they make. */
export type TrainedField = {
  readonly field: string
  readonly m: readonly number[]
  readonly u: readonly number[]
  readonly bits: readonly number[]
}

export type Trained = {
  readonly fields: readonly TrainedField[]
  /** How likely a candidate is one. */
  readonly prior: number
  readonly pairs_compared: number
}

/** What people know: pairs that are one or not; or the cluster of every record, and then nothing is left to guess. */
export type Labels =
  | { readonly kind: 'pairs'; readonly pairs: readonly { a: number; b: number; isMatch: boolean }[] }
  | { readonly kind: 'clusters'; readonly clusters: Int32Array }

/** The lens with all its worth left to be learnt. */
export function unweighed(lens: Lens): Lens {
  const { prior: _, ...rest } = lens
  return { ...rest, fields: lens.fields.map(({ weights: _w, m: _m, u: _u, ...field }) => field) }
}

/**
 * Without labels: u from pairs drawn at random, m by expectation and maximisation, as a run learns them. With labels: m from
 * pairs that are one; u from candidates that are not. Deterministic. Throws `LensFault`.
 */
export function train(lens: Lens, records: Records, seed: number, labels: Labels | undefined, tell: Tell): Trained {
  const open = unweighed(lens)
  if (labels) return byLabels(open, records, seed, labels, tell)
  const { model, compares, compared } = resolve(open, records, seed, tell)
  return trainedOf(model, compares, compared)
}

function byLabels(lens: Lens, records: Records, seed: number, labels: Labels, tell: Tell): Trained {
  const given = givenFor(lens, records, seed, tell)
  const { compares, list } = gathered(records, given)
  if (labels.kind === 'clusters') {
    const { clusters } = labels
    addWithin(clusters, list)
    return trainedOf(
      learned(compares, list.compared(), matchesIn(list.compared(), clusters)),
      compares,
      list.compared(),
    )
  }
  const known = new PairList(compares)
  for (const { a, b, isMatch } of labels.pairs) if (isMatch) known.add(Math.min(a, b), Math.max(a, b))
  const matches = known.compared()
  const all = new Float64Array(matches.counts.length).fill(1)
  const m = compares.outcomes.map((count, field) => frequencies(matches, field, count, all))
  let model: Model = { ...untrained(records, compares, given.random), m }
  for (let round = 0; round < rounds; round++) {
    const scores = scoresOf(model, compares, list.compared())
    model = { ...learned(compares, list.compared(), probabilities(scores)), m }
  }
  return trainedOf(model, compares, list.compared())
}

/** Every pair that is one counts, whether or not blocking found it. */
function addWithin(clusters: Int32Array, list: PairList): void {
  const { lefts, rights, length } = list.compared()
  const known = new Set<number>()
  for (let pair = 0; pair < length; pair++) {
    const [a, b] = [lefts[pair]!, rights[pair]!]
    if (clusters[a] === clusters[b]) known.add(a * clusters.length + b)
  }
  const members = new Map<number, number[]>()
  for (const [row, cluster] of clusters.entries()) {
    const others = members.get(cluster) ?? []
    for (const other of others) if (!known.has(other * clusters.length + row)) list.add(other, row)
    members.set(cluster, [...others, row])
  }
}

/** The part of each pattern's pairs that are one. */
function matchesIn({ length, lefts, rights, patternOf, counts }: Compared, clusters: Int32Array): Float64Array {
  const inside = new Float64Array(counts.length)
  for (let pair = 0; pair < length; pair++) {
    if (clusters[lefts[pair]!] === clusters[rights[pair]!]) inside[patternOf[pair]!]!++
  }
  return inside.map((count, pattern) => count / counts[pattern]!)
}

/** Weights that were pooled so that they never rise as likeness falls are kept as they are used: m is u times the weight. Throws `LensFault`: there were no pairs. */
function trainedOf(model: Model, compares: Comparing, { length }: Compared): Trained {
  if (length === 0) throw new LensFault('no two records were compared, so that there is nothing to learn from')
  const weights = weightsOf(model, compares)
  const fields = compares.fields.map(({ name }, field) => {
    const u = model.u[field]!.slice(1).map(kept)
    const m = weights[field]!.slice(1).map((weight, level) => kept(Math.min(1, u[level]! * Math.exp(weight))))
    return { field: name, m, u, bits: m.map((each, level) => Math.log2(each / u[level]!)) }
  })
  return { fields, prior: kept(model.lambda), pairs_compared: length }
}

/** Digits that make no difference to any score, and can be read. */
function kept(probability: number): number {
  return Number(probability.toPrecision(9))
}
