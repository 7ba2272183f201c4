// Fellegi and Sunter's model of a match: for each field, how much a level speaks for one person or thing, in natural logs.
import type { Comparing } from '../compare/pairs.ts'
import type { Histogram } from '../compare/patterns.ts'
import { shapeOf, shapeOfGiven } from './shapes.ts'

/**
 * `m[field][outcome]` and `u[field][outcome]`: probability of the outcome for a match and for a non-match; outcome 0, no
 * evidence, has none. `lambda`: of a candidate to be a match. After Fellegi and Sunter, "A Theory for Record Linkage", 1969.
 */
export type Model = {
  readonly m: readonly number[][]
  readonly u: readonly number[][]
  readonly lambda: number
  /** Of each field and outcome in natural logs, where they were given and are not to be found from m and u. */
  readonly weights?: readonly number[][]
}

/** The model before any learning: u from pairs drawn at random, m from fixed shapes. */
export function firstModel(comparing: Comparing, random: Histogram, lambda: number): Model {
  const { fields, outcomes, swapped } = comparing
  const everything = new Float64Array(random.counts.length).fill(1)
  const u = outcomes.map((count, field) => frequencies(random, field, count, everything))
  const m = outcomes.map((count, field) => {
    const extra = field === swapped?.[0] ? 2 : 0
    const { type, levels } = fields[field]!
    const shape = levels ? shapeOfGiven(count - 1) : shapeOf(type, count - 1 - extra)
    return [0, ...shape, ...Array.from({ length: extra }, () => swap_part)]
  })
  return { m, u, lambda }
}

const swap_part = 0.02

/** The chance of each outcome but the first among pairs weighed so, smoothed by half a count spread over the levels. */
export function frequencies(
  { fields, patterns, counts }: Histogram,
  field: number,
  outcomes: number,
  weights: Float64Array,
): number[] {
  const found = new Array<number>(outcomes).fill(0)
  for (let pattern = 0; pattern < counts.length; pattern++) {
    found[patterns[pattern * fields + field]!]! += counts[pattern]! * weights[pattern]!
  }
  found[0] = 0
  const levels = outcomes - 1
  const sum = found.reduce((all, each) => all + each, 0) + 0.5
  return found.map((each, outcome) => (outcome === 0 ? 0 : (each + 0.5 / levels) / sum))
}

/**
 * ln(m / u) of each field and outcome; what a missing value weighs for no evidence. Never rises as likeness falls: neighbours that would are pooled
 * (Ayer et al., "An Empirical Distribution Function for Sampling with Incomplete Information", 1955).
 */
export function weightsOf(
  { m, u, weights }: Model,
  { swapped, missing = 0 }: Pick<Comparing, 'swapped'> & { readonly missing?: number },
): readonly number[][] {
  if (weights) return weights
  return m.map((of, field) => {
    const extra = field === swapped?.[0] ? 2 : 0
    const ordinary = of.length - extra
    const pooled = falling(of.slice(1, ordinary), u[field]!.slice(1, ordinary))
    const rest = of.slice(ordinary).map((each, at) => Math.log(each / u[field]![ordinary + at]!))
    return [missing, ...pooled, ...rest]
  })
}

function falling(m: readonly number[], u: readonly number[]): number[] {
  const pools: { m: number; u: number; levels: number }[] = []
  for (const [level, each] of m.entries()) {
    let pool = { m: each, u: u[level]!, levels: 1 }
    for (let last = pools.at(-1); last && last.m / last.u < pool.m / pool.u; last = pools.at(-1)) {
      pools.pop()
      pool = { m: last.m + pool.m, u: last.u + pool.u, levels: last.levels + pool.levels }
    }
    pools.push(pool)
  }
  return pools.flatMap(({ m: of, u: by, levels }) => Array.from({ length: levels }, () => Math.log(of / by)))
}

export function logit(probability: number): number {
  return Math.log(probability / (1 - probability))
}

/** Sum of prior and weights of each pattern, in natural logs of odds. */
export function scoresOf(model: Model, comparing: Comparing, { fields, patterns, counts }: Histogram): Float64Array {
  const weights = weightsOf(model, comparing)
  const prior = logit(model.lambda)
  const scores = new Float64Array(counts.length)
  for (let pattern = 0; pattern < counts.length; pattern++) {
    let sum = prior
    for (let field = 0; field < fields; field++) sum += weights[field]![patterns[pattern * fields + field]!]!
    scores[pattern] = sum
  }
  return scores
}

/** Learns m, u and lambda from pairs of which each pattern is a match with this probability; of no pairs, none is likely to be one. */
export function learned(comparing: Comparing, histogram: Histogram, matches: Float64Array): Model {
  const others = matches.map((each) => 1 - each)
  const { outcomes } = comparing
  let all = 0
  let matching = 0
  for (let pattern = 0; pattern < matches.length; pattern++) {
    all += histogram.counts[pattern]!
    matching += histogram.counts[pattern]! * matches[pattern]!
  }
  return {
    m: outcomes.map((count, field) => frequencies(histogram, field, count, matches)),
    u: outcomes.map((count, field) => frequencies(histogram, field, count, others)),
    lambda: Math.min(1 - 1e-9, Math.max(1e-9, all === 0 ? 0 : matching / all)),
  }
}

export function probabilities(scores: Float64Array): Float64Array {
  return scores.map((score) => 1 / (1 + Math.exp(-score)))
}

/** Expectation and maximisation, so many times, over the patterns of the candidates (Dempster, Laird and Rubin, 1977). */
export function trained(model: Model, comparing: Comparing, histogram: Histogram, rounds: number): Model {
  let current = model
  for (let round = 0; round < rounds; round++) {
    current = learned(comparing, histogram, probabilities(scoresOf(current, comparing, histogram)))
  }
  return current
}
