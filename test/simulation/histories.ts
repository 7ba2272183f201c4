// Lives through histories by their seeds, and tells those that did not end well.
import { createKeyRing } from './history.ts'
import { findHistoryFaults } from './judge.ts'

/** Seeds of both halves together, from this one on; `scripts/test --all` and the soak ask for more. */
const count = Number(process.env.SIMULATED_HISTORIES ?? 50)
const offset = Number(process.env.SIMULATED_FIRST ?? 1) - 1
/** One seed alone. */
const only_seed = process.env.SIMULATED_SEED

/** Every `step`th seed from `first` on; for each bad ending its faults and its history. */
export async function findBadHistories(first: number, step: number): Promise<{ seed: number; faults: string[] }[]> {
  const ring = await createKeyRing()
  const bad = []
  for (const seed of listSeeds(first, step)) {
    const faults = await findHistoryFaults(seed, ring)
    if (faults.length > 0) bad.push({ seed, faults })
  }
  return bad
}

function listSeeds(first: number, step: number): number[] {
  if (only_seed !== undefined) return [Number(only_seed)]
  return Array.from({ length: Math.ceil((count - first + 1) / step) }, (_, index) => offset + first + index * step)
}
