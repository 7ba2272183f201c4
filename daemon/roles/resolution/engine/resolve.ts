// The whole way from records to clusters, by the route that the lens and the data ask for.
import type { Lens } from '../lens/model.ts'
import type { Found } from './clusters.ts'
import type { Tell } from './progress.ts'
import { randomFrom } from './random.ts'
import type { Records } from './records/records.ts'
import { forPersons, forTexts, type Given, resolveClusters } from './resolve-clusters.ts'
import { resolveLinks } from './resolve-links.ts'
import { isClean } from './route.ts'
import { most_rows_for_neighbours } from './text/vectors.ts'

/** On the route of links between texts, scores are a likeness that links are ranked by. */
export type Resolution = Omit<Found, 'areFew'>

/** Deterministic: the same records, lens and seed give the same answer. Throws `LensFault`. */
export function resolve(lens: Lens, records: Records, seed: number, tell: Tell): Resolution {
  const byTexts = (isAcross: boolean): Resolution => {
    return { route: 'links', floor: 0, rules: [], ...resolveLinks(records, { lens, isAcross }, tell) }
  }
  const isText = lens.told_by === 'texts'
  const isOpen = isText && isLeftOpen(lens)
  if (isOpen && records.names.length === 2 && isClean(records)) return byTexts(true)
  const given = givenFor(lens, records, seed, tell)
  const { areFew, ...found } = resolveClusters(lens, records, given)
  if (isOpen && areFew && records.rows <= most_rows_for_neighbours) return agreed(byTexts(false), found)
  return found
}

/** What the lens and the data ask of the engine. */
export function givenFor(lens: Lens, records: Records, seed: number, tell: Tell): Given {
  const settings = lens.told_by === 'texts' ? forTexts : forPersons
  return { settings, random: randomFrom(seed), swapped: swappedIn(lens, records), tell }
}

/** Links of texts are ranked by likeness, which has no bits, no blocks and one way of clustering. */
function isLeftOpen({ blocking, threshold, clustering, fields }: Lens): boolean {
  return blocking === 'automatic' && threshold === undefined && clustering === undefined && !fields[0]?.weights
}

/** Of pairs that no third supports, being nearest counts only where the fields say so too, and the other way round. */
function agreed(links: Resolution, { clusters, model }: Resolution): Resolution {
  const both = links.clusters.map((linked, row) => (clusters[linked] === clusters[row] ? linked : row))
  return { ...links, clusters: both, model }
}

/** By number, when both are there. */
function swappedIn({ swapped }: Lens, { fields }: Records): readonly [number, number] | undefined {
  if (!swapped) return undefined
  const [one, other] = swapped.map((name) => fields.findIndex((field) => field.name === name))
  return one !== undefined && other !== undefined && one >= 0 && other >= 0 ? [one, other] : undefined
}
