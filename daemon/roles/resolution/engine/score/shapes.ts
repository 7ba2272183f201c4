// Typical shapes of m: the share of true pairs at each level of a field, before training.
import type { FieldType } from '../../lens/model.ts'

const text_shape = [3, 3, 2.5, 2, 1.5, 1, 0.6, 0.4, 0.2, 0.1, 0.1]
const number_shape = [4, 2, 1.5, 1, 1, 0.7, 0.7]
const codes_shape = [0.55, 0.25, 0.15, 0.05]
const numbers_shape = [0.5, 0.25, 0.15, 0.1]
const level_decay = 0.55
const different_share = 0.07
const equal_share = 0.85

/** Creates the shape for levels of a lens, for any type. */
export function createGenericShape(levels: number): number[] {
  const falling = normaliseShares(Array.from({ length: levels - 1 }, (_, level) => level_decay ** level))
  return [...falling.map((part) => part * (1 - different_share)), different_share]
}

/** Creates shares that sum to 1 over the levels. True pairs are mostly equal, rarely entirely different. */
export function createTypeShape(type: FieldType, levels: number): number[] {
  switch (type) {
    case 'text':
      return normaliseShares(text_shape)
    case 'number':
      return normaliseShares(number_shape)
    case 'codes':
      return [...codes_shape]
    case 'numbers':
      return [...numbers_shape]
    case 'category':
    case 'year':
      return Array.from({ length: levels }, (_, level) =>
        level === 0 ? equal_share : (1 - equal_share) / (levels - 1),
      )
    default:
      return createGenericShape(levels)
  }
}

function normaliseShares(weights: readonly number[]): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0)
  return weights.map((weight) => weight / sum)
}
