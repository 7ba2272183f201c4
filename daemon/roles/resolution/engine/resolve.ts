// The whole way from records to clusters, by the route that the lens and the data ask for.
import type { Lens } from '../lens/model.ts'
import type { Found } from './clusters.ts'
import { randomFrom } from './random.ts'
import type { Records } from './records/records.ts'
import { forPersons, forTexts, resolveClusters } from './resolve-clusters.ts'
import { resolveLinks } from './resolve-links.ts'
import { isClean } from './route.ts'

/** On the route of links between texts, scores are a likeness that links are ranked by. */
export type Resolution = Found

export type Tell = (phase: string) => void

/** Deterministic: the same records, lens and seed give the same answer. Throws `LensFault`. */
export function resolve(lens: Lens, records: Records, seed: number, tell: Tell): Resolution {
  if (lens.told_by === 'texts' && isLeftOpen(lens) && records.names.length === 2 && isClean(records)) {
    return { route: 'links', floor: 0, rules: [], ...resolveLinks(lens, records, tell) }
  }
  const swapped = swappedIn(lens, records)
  const settings = lens.told_by === 'texts' ? forTexts : forPersons
  return resolveClusters(lens, records, { settings, random: randomFrom(seed), swapped, tell })
}

/** Links of texts are ranked by likeness, which has no bits, no blocks and one way of clustering. */
function isLeftOpen({ blocking, threshold, clustering, fields }: Lens): boolean {
  return blocking === 'automatic' && threshold === undefined && clustering === undefined && !fields[0]?.weights
}

/** By number, when both are there. */
function swappedIn({ swapped }: Lens, { fields }: Records): readonly [number, number] | undefined {
  if (!swapped) return undefined
  const [one, other] = swapped.map((name) => fields.findIndex((field) => field.name === name))
  return one !== undefined && other !== undefined && one >= 0 && other >= 0 ? [one, other] : undefined
}
