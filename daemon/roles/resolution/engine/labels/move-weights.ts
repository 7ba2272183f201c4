// Moves the weights of a model by labelled pairs: a logistic regression that starts at the weights learnt without labels, and
// leaves them only as far as the labels require.
import type { PairComparer } from '../compare/pair-comparer.ts'
import type { PatternHistogram } from '../compare/patterns.ts'
import { logistic } from '../score/model.ts'
import { solveSymmetric } from './solve-symmetric.ts'

/**
 * A labelled pair: its pattern of outcomes, and the evidence of the learnt weights in natural log-odds.
 */
export type LabelledEvidence = { readonly pattern: number; readonly evidence: number; readonly isMatch: boolean }

/** The amounts that labels add to a score, in natural log-odds: once, and for each field and outcome. */
export type WeightShift = { readonly prior: number; readonly weights: readonly (readonly number[])[] }

/**
 * Standard deviations of the error of what was learnt without labels: the penalty of the regression, in which 10 labels
 * move little and 100 move much. A level is off by about a factor of e (1 nat). A field counts too much or too little by
 * half, since fields repeat each other's evidence. The prior drifts by a factor of ten (2.3 nats, decision 0087).
 */
const level_deviation = 1
const field_deviation = 0.5
const prior_deviation = Math.log(10)

const max_rounds = 50
const converged_step = 1e-6
/** A longer step may overshoot where labels contradict sure scores. */
const max_step = 2

/**
 * Maximises the likelihood of the labels under a normal prior around the learnt weights, by Newton's method. That pairs
 * were chosen by their scores does not bias it: it models the label given the levels. `weights`: as learnt.
 */
export function fitWeightShift(
  comparer: Pick<PairComparer, 'outcomes'>,
  { fields, patterns }: Pick<PatternHistogram, 'fields' | 'patterns'>,
  weights: readonly (readonly number[])[],
  labels: readonly LabelledEvidence[],
): WeightShift {
  const { starts, size } = numberParameters(comparer)
  const deviationOf = (parameter: number) =>
    parameter === 0 ? prior_deviation : parameter <= fields ? field_deviation : level_deviation
  const rows = labels.map(({ pattern, evidence, isMatch }) => {
    const entries: [number, number][] = [[0, prior_deviation]]
    for (let field = 0; field < fields; field++) {
      const outcome = patterns[pattern * fields + field]!
      if (outcome === 0) continue
      entries.push([1 + field, weights[field]![outcome]! * field_deviation])
      entries.push([starts[field]! + outcome, level_deviation])
    }
    return { entries, offset: evidence, isMatch }
  })
  const units = fitUnits(rows, size)
  const sizeOf = (parameter: number) => units[parameter]! * deviationOf(parameter)
  const shiftOf = (field: number, outcome: number, weight: number) =>
    weight * sizeOf(1 + field) + sizeOf(starts[field]! + outcome)
  return {
    prior: sizeOf(0),
    weights: weights.map((list, field) =>
      list.map((weight, outcome) => (outcome === 0 ? 0 : shiftOf(field, outcome, weight))),
    ),
  }
}

/** Numbers the parameters: the prior, one factor for each field, and one shift for each outcome of a field. */
function numberParameters({ outcomes }: Pick<PairComparer, 'outcomes'>) {
  let size = 1 + outcomes.length
  const starts = outcomes.map((count) => {
    size += count
    return size - count
  })
  return { starts, size }
}

type RegressionRow = {
  readonly entries: readonly (readonly [parameter: number, value: number])[]
  readonly offset: number
  readonly isMatch: boolean
}

/** Fits the parameters in units of their deviations, in which the penalty of each is equal. */
function fitUnits(rows: readonly RegressionRow[], size: number): Float64Array {
  const units = new Float64Array(size)
  for (let round = 0; round < max_rounds; round++) {
    const gradient = units.map((value) => -value)
    const curvature = Array.from({ length: size }, (_, at) => new Float64Array(size).fill(1, at, at + 1))
    for (const { entries, offset, isMatch } of rows) {
      const probability = logistic(entries.reduce((sum, [at, value]) => sum + units[at]! * value, offset))
      const variance = probability * (1 - probability)
      for (const [one, value] of entries) {
        gradient[one]! += ((isMatch ? 1 : 0) - probability) * value
        for (const [other, otherValue] of entries) curvature[one]![other]! += variance * value * otherValue
      }
    }
    const step = solveSymmetric(curvature, gradient)
    const length = Math.hypot(...step)
    const part = Math.min(1, max_step / Math.max(length, converged_step))
    for (let at = 0; at < size; at++) units[at]! += part * step[at]!
    if (length < converged_step) break
  }
  return units
}

/**
 * Adds a shift to the weights of a lens. `gain`: change of a weight for one nat of the score. Weights never rise as
 * similarity falls: adjacent levels are pooled where they would. A weight keeps its sign in the last level, which decides
 * whether a text counts for likeness.
 */
export function shiftWeights(
  weights: readonly (readonly number[])[],
  shift: WeightShift,
  { swapped, gain }: { readonly swapped?: PairComparer['swapped']; readonly gain: number },
): number[][] {
  return weights.map((list, field) => {
    const ordinary = list.length - (field === swapped?.[0] ? 2 : 0)
    const moved = list.map((weight, outcome) => weight + gain * shift.weights[field]![outcome]!)
    const pooled = poolFallingMeans(moved.slice(1, ordinary))
    const last = list[ordinary - 1]!
    const bounded = pooled.map((weight, at) => {
      if (last > 0) return Math.max(weight, Number.EPSILON)
      return at === pooled.length - 1 ? Math.min(weight, 0) : weight
    })
    return [list[0]!, ...bounded, ...moved.slice(ordinary)]
  })
}

/** Replaces values by the nearest ones that never rise (least squares). */
function poolFallingMeans(values: readonly number[]): number[] {
  const pools: { sum: number; count: number }[] = []
  for (const value of values) {
    let pool = { sum: value, count: 1 }
    for (let last = pools.at(-1); last && last.sum / last.count < pool.sum / pool.count; last = pools.at(-1)) {
      pools.pop()
      pool = { sum: last.sum + pool.sum, count: last.count + pool.count }
    }
    pools.push(pool)
  }
  return pools.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count))
}
