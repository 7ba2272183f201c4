// Chance that a seed repeats: the same seed tells the same history.

export type Chance = {
  /** A whole number from 0 to below `n`. */
  below(n: number): number
  happens(probability: number): boolean
  pick<T>(from: readonly T[]): T
  shuffled<T>(of: readonly T[]): T[]
}

/** Mulberry32 (Tommy Ettinger, public domain): 32 bits of state, good enough to vary histories. */
export function chance(seed: number): Chance {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  return {
    below,
    happens: (probability) => next() < probability,
    pick: (from) => from[below(from.length)] as (typeof from)[number],
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
