// The Fellegi-Sunter model of a match: the evidence of each level of each field, in natural logs.
import type { PairComparer } from '../compare/pair-comparer.ts'
import type { PatternHistogram } from '../compare/patterns.ts'
import { createGenericShape, createTypeShape } from './shapes.ts'

/**
 * The model. `m[field][outcome]` and `u[field][outcome]`: probability of the outcome among matches and among
 * non-matches; 0 for outcome 0, no evidence. `lambda`: probability that a candidate is a match. After Fellegi and
 * Sunter, "A Theory for Record Linkage", 1969.
 */
export type MatchModel = {
  readonly m: readonly number[][]
  readonly u: readonly number[][]
  readonly lambda: number
  /** Weight of each field and outcome in natural logs, if a lens fixes weights instead of m and u. */
  readonly weights?: readonly (readonly number[])[]
}

/** Creates the model before training: u from random pairs, m from fixed shapes. */
export function createInitialModel(comparer: PairComparer, random: PatternHistogram, lambda: number): MatchModel {
  const { fields, outcomes, swapped } = comparer
  const ones = new Float64Array(random.counts.length).fill(1)
  const u = outcomes.map((count, field) => computeOutcomeFrequencies(random, field, count, ones))
  const m = outcomes.map((count, field) => {
    const extra = field === swapped?.[0] ? 2 : 0
    const { type, levels } = fields[field]!
    const shape = levels ? createGenericShape(count - 1) : createTypeShape(type, count - 1 - extra)
    return [0, ...shape, ...Array.from({ length: extra }, () => swap_share)]
  })
  return { m, u, lambda }
}

const swap_share = 0.02

/**
 * Computes the probability of each outcome except the first among the weighted pairs, smoothed by half a count spread
 * over the levels.
 */
export function computeOutcomeFrequencies(
  { fields, patterns, counts }: PatternHistogram,
  field: number,
  outcomes: number,
  weights: Float64Array,
): number[] {
  const sums = new Array<number>(outcomes).fill(0)
  for (let pattern = 0; pattern < counts.length; pattern++) {
    sums[patterns[pattern * fields + field]!]! += counts[pattern]! * weights[pattern]!
  }
  sums[0] = 0
  const levels = outcomes - 1
  const total = sums.reduce((all, sum) => all + sum, 0) + 0.5
  return sums.map((sum, outcome) => (outcome === 0 ? 0 : (sum + 0.5 / levels) / total))
}

/**
 * Computes ln(m / u) of each field and outcome; `missing` for no evidence. Weights never rise as similarity falls:
 * adjacent levels are pooled where they would (Ayer et al., "An Empirical Distribution Function for Sampling with
 * Incomplete Information", 1955).
 */
export function computeWeights(
  { m, u, weights }: MatchModel,
  { swapped, missing = 0 }: Pick<PairComparer, 'swapped'> & { readonly missing?: number },
): readonly (readonly number[])[] {
  if (weights) return weights
  return m.map((shares, field) => {
    const extra = field === swapped?.[0] ? 2 : 0
    const ordinary = shares.length - extra
    const pooled = poolFallingWeights(shares.slice(1, ordinary), u[field]!.slice(1, ordinary))
    const rest = shares.slice(ordinary).map((share, at) => Math.log(share / u[field]![ordinary + at]!))
    return [missing, ...pooled, ...rest]
  })
}

function poolFallingWeights(m: readonly number[], u: readonly number[]): number[] {
  const pools: { m: number; u: number; levels: number }[] = []
  for (const [level, share] of m.entries()) {
    let pool = { m: share, u: u[level]!, levels: 1 }
    for (let last = pools.at(-1); last && last.m / last.u < pool.m / pool.u; last = pools.at(-1)) {
      pools.pop()
      pool = { m: last.m + pool.m, u: last.u + pool.u, levels: last.levels + pool.levels }
    }
    pools.push(pool)
  }
  return pools.flatMap((pool) => Array.from({ length: pool.levels }, () => Math.log(pool.m / pool.u)))
}

export function logit(probability: number): number {
  return Math.log(probability / (1 - probability))
}

/** The inverse of `logit`. */
export function logistic(log_odds: number): number {
  return 1 / (1 + Math.exp(-log_odds))
}

/** Sums the prior and the weights of each pattern, in natural log-odds. */
export function scorePatterns(
  model: MatchModel,
  comparer: PairComparer,
  { fields, patterns, counts }: PatternHistogram,
): Float64Array {
  const weights = computeWeights(model, comparer)
  const prior = logit(model.lambda)
  const scores = new Float64Array(counts.length)
  for (let pattern = 0; pattern < counts.length; pattern++) {
    let sum = prior
    for (let field = 0; field < fields; field++) sum += weights[field]![patterns[pattern * fields + field]!]!
    scores[pattern] = sum
  }
  return scores
}

/** Estimates m, u and lambda from the match probability of each pattern; lambda is near 0 without pairs. */
export function estimateModel(comparer: PairComparer, histogram: PatternHistogram, matches: Float64Array): MatchModel {
  const nonMatches = matches.map((probability) => 1 - probability)
  const { outcomes } = comparer
  let all = 0
  let matching = 0
  for (let pattern = 0; pattern < matches.length; pattern++) {
    all += histogram.counts[pattern]!
    matching += histogram.counts[pattern]! * matches[pattern]!
  }
  return {
    m: outcomes.map((count, field) => computeOutcomeFrequencies(histogram, field, count, matches)),
    u: outcomes.map((count, field) => computeOutcomeFrequencies(histogram, field, count, nonMatches)),
    lambda: Math.min(1 - 1e-9, Math.max(1e-9, all === 0 ? 0 : matching / all)),
  }
}

export function computeProbabilities(scores: Float64Array): Float64Array {
  return scores.map(logistic)
}

/**
 * Trains the model by expectation-maximisation over the patterns of the candidates (Dempster, Laird and Rubin, 1977).
 */
export function trainModel(
  model: MatchModel,
  comparer: PairComparer,
  histogram: PatternHistogram,
  rounds: number,
): MatchModel {
  let current = model
  for (let round = 0; round < rounds; round++) {
    current = estimateModel(comparer, histogram, computeProbabilities(scorePatterns(current, comparer, histogram)))
  }
  return current
}
