// Entry point of the combiners, for local and federated contributions, decisions and dissents.
import type { CombinationMethod } from '../../../shared/quorum-policy/quorum-policy.ts'
import type { Combination } from './combination.ts'
import { dempsterShafer } from './dempster-shafer.ts'
import { type Opinion, sortCanonically } from './opinion.ts'
import { weightedAverage } from './weighted-average.ts'

const combiners: Record<CombinationMethod, (sorted: readonly Opinion[]) => Combination> = {
  weighted_average: weightedAverage,
  dempster_shafer: dempsterShafer,
}

/** Combines opinions given in any order; the order changes no bit of the result. */
export function combine(method: CombinationMethod, opinions: readonly Opinion[]): Combination {
  return combineSorted(method, sortCanonically(opinions))
}

/** The same for a list that is already in canonical order. */
export function combineSorted(method: CombinationMethod, sorted: readonly Opinion[]): Combination {
  return combiners[method](sorted)
}
