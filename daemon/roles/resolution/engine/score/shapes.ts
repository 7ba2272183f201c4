// What a match looks like before any data was seen: how often true pairs fall into each level of a field.
import type { FieldType } from '../../lens/model.ts'

const text_shape = [3, 3, 2.5, 2, 1.5, 1, 0.6, 0.4, 0.2, 0.1, 0.1]
const number_shape = [4, 2, 1.5, 1, 1, 0.7, 0.7]
const decay = 0.55
const worst_part = 0.07
const equal_part = 0.85

/** For levels that a lens gives, whatever the type. */
export function shapeOfGiven(levels: number): number[] {
  const falling = parts(Array.from({ length: levels - 1 }, (_, level) => decay ** level))
  return [...falling.map((part) => part * (1 - worst_part)), worst_part]
}

/** Parts of 1 for each of so many levels. True pairs are mostly equal, seldom wholly apart. */
export function shapeOf(type: FieldType, levels: number): number[] {
  switch (type) {
    case 'text':
      return parts(text_shape)
    case 'number':
      return parts(number_shape)
    case 'category':
    case 'year':
      return Array.from({ length: levels }, (_, level) => (level === 0 ? equal_part : (1 - equal_part) / (levels - 1)))
    default:
      return shapeOfGiven(levels)
  }
}

function parts(weights: readonly number[]): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0)
  return weights.map((weight) => weight / sum)
}
