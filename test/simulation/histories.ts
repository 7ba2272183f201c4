// Lives through histories by their seeds, and tells those that did not end well.
import { makeRing } from './history.ts'
import { faultsOf } from './judge.ts'

/** Seeds of both halves together, from this one on; `scripts/test --all` and the soak ask for more. */
const count = Number(process.env.SIMULATED_HISTORIES ?? 50)
const offset = Number(process.env.SIMULATED_FIRST ?? 1) - 1
/** One seed alone. */
const only = process.env.SIMULATED_SEED

/** Every `step`th seed from `first` on; of each that ended badly what is wrong, and what had happened. */
export async function badHistories(first: number, step: number): Promise<{ seed: number; faults: string[] }[]> {
  const ring = await makeRing()
  const bad = []
  for (const seed of seeds(first, step)) {
    const faults = await faultsOf(seed, ring)
    if (faults.length > 0) bad.push({ seed, faults })
  }
  return bad
}

function seeds(first: number, step: number): number[] {
  if (only !== undefined) return [Number(only)]
  return Array.from({ length: Math.ceil((count - first + 1) / step) }, (_, index) => offset + first + index * step)
}
