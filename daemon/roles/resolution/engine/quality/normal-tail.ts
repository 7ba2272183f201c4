// The share of a normal distribution that lies below zero, where only its values above zero are known.

/** Values of the mean and of the standard deviation that are tried. */
const max_mean = 30
const max_deviation = 12
const step = 0.25

/** Sums over the values above zero. */
export type PositiveSums = { readonly count: number; readonly sum: number; readonly squares: number }

/**
 * Fits a normal distribution, truncated at zero and with a mean of zero or more, by its likelihood on a grid; returns the
 * share below zero, at most one half. 0 without values.
 */
export function estimateShareBelowZero(sums: PositiveSums): number {
  if (sums.count === 0) return 0
  let best = { likelihood: Number.NEGATIVE_INFINITY, share: 0 }
  for (let mean = 0; mean <= max_mean; mean += step) {
    for (let deviation = 2 * step; deviation <= max_deviation; deviation += step) {
      const share = computeNormalShareBelow(-mean / deviation)
      const likelihood = computeLogLikelihood(sums, mean, deviation) - sums.count * Math.log(1 - share)
      if (likelihood > best.likelihood) best = { likelihood, share }
    }
  }
  return best.share
}

/** Log-likelihood of the values without truncation, up to a constant. */
function computeLogLikelihood({ count, sum, squares }: PositiveSums, mean: number, deviation: number): number {
  const squared_error = squares - 2 * mean * sum + count * mean * mean
  return -count * Math.log(deviation) - squared_error / (2 * deviation * deviation)
}

/**
 * Share of the standard normal distribution below `value`, to 1e-7 (Abramowitz and Stegun, "Handbook of Mathematical
 * Functions", 1964, 26.2.17).
 */
export function computeNormalShareBelow(value: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(value))
  const factors = [1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153]
  const polynomial = factors.reduce((sum, factor) => (sum + factor) * t, 0)
  const above = (Math.exp((-value * value) / 2) / Math.sqrt(2 * Math.PI)) * polynomial
  return value >= 0 ? 1 - above : above
}
