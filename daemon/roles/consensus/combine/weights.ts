// Weights of a list of opinions in a range where neither their products nor their squares can underflow.
import { type Opinion, weight } from './opinion.ts'

const TINY = 2 ** -200
const LIFT = 2 ** 600

/**
 * The factor by which all weights of a list may be multiplied before a ratio of them is taken. A power of two, so it
 * changes no bit of the ratio, except that tiny weights keep bits that their products would lose.
 */
export function scaleFor(opinions: readonly Opinion[]): number {
  let largest = 0
  for (const opinion of opinions) largest = Math.max(largest, weight(opinion))
  return largest < TINY ? LIFT : 1
}

/** Sum of the weights, in the order given. */
export function totalWeight(opinions: readonly Opinion[]): number {
  let total = 0
  for (const opinion of opinions) total += weight(opinion)
  return total
}
