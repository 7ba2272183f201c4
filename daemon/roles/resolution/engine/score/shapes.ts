// What a match looks like before any data was seen: how often true pairs fall into each level of a field.
import type { FieldType } from '../../lens/model.ts'

const text_shape = [3, 3, 2.5, 2, 1.5, 1, 0.6, 0.4, 0.2, 0.1, 0.1]
const number_shape = [4, 2, 1.5, 1, 1, 0.7, 0.7]
const level_decay = 0.55
const different_share = 0.07
const equal_share = 0.85

/** For levels that a lens gives, whatever the type. */
export function createGenericShape(levels: number): number[] {
  const falling = normaliseShares(Array.from({ length: levels - 1 }, (_, level) => level_decay ** level))
  return [...falling.map((part) => part * (1 - different_share)), different_share]
}

/** Parts of 1 for each of so many levels. True pairs are mostly equal, seldom wholly apart. */
export function createTypeShape(type: FieldType, levels: number): number[] {
  switch (type) {
    case 'text':
      return normaliseShares(text_shape)
    case 'number':
      return normaliseShares(number_shape)
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
