// Chance that a seed repeats: the same seed makes the same choices in the same order.
import { createRandom } from '../../../daemon/roles/resolution/engine/random.ts'

export type SeededRandom = {
  /** A whole number from 0 to below `n`. */
  below(n: number): number
  happens(probability: number): boolean
  pick<T>(from: readonly T[]): T
  /** One of the names, each as often as its weight says. */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T
  shuffled<T>(of: readonly T[]): T[]
}

export function seededRandom(seed: number): SeededRandom {
  const next = createRandom(seed)
  const below = (n: number) => Math.floor(next() * n)
  return {
    below,
    happens: (probability) => next() < probability,
    pick: (from) => from[below(from.length)] as (typeof from)[number],
    weighted<T extends string>(weights: Readonly<Record<T, number>>) {
      const entries = Object.entries(weights) as [T, number][]
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [name, weight] of entries) {
        left -= weight
        if (left < 0) return name
      }
      throw new Error('no weight is above 0')
    },
    shuffled(of) {
      const list = [...of]
      for (let i = list.length - 1; i > 0; i--) {
        const j = below(i + 1)
        ;[list[i], list[j]] = [list[j] as (typeof list)[number], list[i] as (typeof list)[number]]
      }
      return list
    },
  }
}
