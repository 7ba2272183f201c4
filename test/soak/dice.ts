// Chance that a seed decides: the same seed makes the same choices in the same order.

export type Dice = {
  /** A whole number from 0 to this one, without it. */
  below(limit: number): number
  /** One of the names, each as often as its weight says. */
  pick<T extends string>(weights: Readonly<Record<T, number>>): T
}

/** Mulberry32 (https://gist.github.com/tommyettinger/46a874533244883189143505d203312c): 32 bits of state are enough here. */
export function diceOf(seed: number): Dice {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    pick<T extends string>(weights: Readonly<Record<T, number>>) {
      const entries = Object.entries(weights) as [T, number][]
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [name, weight] of entries) {
        left -= weight
        if (left < 0) return name
      }
      throw new Error('no weight is above 0')
    },
  }
}
