// Lives through histories by their seeds, and tells those that did not end well.
import { makeRing } from './history.ts'
import { faultsOf } from './judge.ts'

/** All seeds together; .ci/run asks for more than a developer waits for. One seed alone: SIMULATED_SEED. */
const count = Number(process.env.SIMULATED_HISTORIES ?? 500)
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
  return Array.from({ length: Math.ceil((count - first + 1) / step) }, (_, index) => first + index * step)
}
