// The whole way from records to clusters, by the route that the lens and the data ask for.
import type { Lens } from '../lens/model.ts'
import type { Compared } from './compare/patterns.ts'
import { randomFrom } from './random.ts'
import type { Records } from './records/records.ts'
import { forPersons, forTexts, type Route, resolveClusters } from './resolve-clusters.ts'
import { resolveLinks } from './resolve-links.ts'
import { isClean } from './route.ts'

export type Resolution = {
  readonly route: Route
  /** The lowest row of each row's cluster. */
  readonly clusters: Int32Array
  readonly compared: Compared
  /** Of each compared pair; log-odds on the route of clusters, a likeness that links are ranked by on that of links. */
  readonly scores: Float64Array
  /** A pair with no more than this says nothing. */
  readonly floor: number
}

export type Tell = (phase: string) => void

/** Deterministic: the same records, lens and seed give the same answer. */
export function resolve(lens: Lens, records: Records, seed: number, tell: Tell): Resolution {
  if (lens.told_by === 'texts' && records.names.length === 2 && isClean(records)) {
    return { route: 'links', floor: 0, ...resolveLinks(records, lens.text_evidence, tell) }
  }
  const swapped = swappedIn(lens, records)
  const settings = lens.told_by === 'texts' ? forTexts : forPersons
  return {
    floor: settings.lowest,
    ...resolveClusters(records, { settings, random: randomFrom(seed), swapped, tell }),
  }
}

/** By number, when both are there. */
function swappedIn({ swapped }: Lens, { fields }: Records): readonly [number, number] | undefined {
  if (!swapped) return undefined
  const [one, other] = swapped.map((name) => fields.findIndex((field) => field.name === name))
  return one !== undefined && other !== undefined && one >= 0 && other >= 0 ? [one, other] : undefined
}
