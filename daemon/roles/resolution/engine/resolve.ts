// The whole way from records to clusters, by the route that the lens and the data ask for.
import type { Lens } from '../lens/model.ts'
import { boundsGiven, byMethod } from './cluster/clustered.ts'
import type { Tell } from './progress.ts'
import { randomFrom } from './random.ts'
import type { Records } from './records/records.ts'
import { type Found, forPersons, forTexts, type Given, resolveClusters, type Settings } from './resolve-clusters.ts'
import { resolveLinks } from './resolve-links.ts'
import { isClean } from './route.ts'
import { most_rows_for_neighbours } from './text/vectors.ts'

export type Scale = 'log_odds' | 'likeness'

/** What is kept of a resolution; `clusters` has the lowest row of each row's cluster. */
export type Resolution = Pick<Found, 'route' | 'clusters' | 'compared' | 'scores' | 'floor' | 'cut'> & {
  /** What scores are: natural logs of odds, or where texts tell, a likeness that links are ranked by. */
  readonly scale: Scale
}

/** With what it came from. */
export type Resolved = Resolution & Omit<Found, 'areFew'>

/** Deterministic: the same records, lens and seed give the same answer. Throws `LensFault`. */
export function resolve(lens: Lens, records: Records, seed: number, tell: Tell): Resolved {
  const byTexts = (isAcross: boolean): Resolved => {
    return {
      route: 'links',
      scale: 'likeness',
      floor: 0,
      rules: [],
      ...resolveLinks(records, { lens, isAcross }, tell),
    }
  }
  const isOpen = lens.told_by === 'texts' && isLeftOpen(lens)
  if (isOpen && records.names.length === 2 && isClean(records)) return byTexts(true)
  const { areFew, ...found } = resolveClusters(records, givenFor(lens, records, seed, tell))
  if (isOpen && areFew && records.rows <= most_rows_for_neighbours) return agreed(byTexts(false), found)
  return { scale: 'log_odds', ...found }
}

/** What the lens and the data ask of the engine. */
export function givenFor(lens: Lens, records: Records, seed: number, tell: Tell): Given {
  return { lens, settings: settingsFor(lens), random: randomFrom(seed), swapped: swappedIn(lens, records), tell }
}

/** Links of texts are ranked by likeness, which has no bits, no blocks and one way of clustering. */
function isLeftOpen({ blocking, threshold, clustering, fields }: Lens): boolean {
  return blocking === 'automatic' && threshold === undefined && clustering === undefined && !fields[0]?.weights
}

/** Of pairs that no third supports, being nearest counts only where the fields say so too, and the other way round. */
function agreed(links: Resolved, { clusters, model }: Pick<Resolved, 'clusters' | 'model'>): Resolved {
  const both = links.clusters.map((linked, row) => (clusters[linked] === clusters[row] ? linked : row))
  return { ...links, clusters: both, model }
}

/** The clusters of pairs scored by log-odds, by the line that the lens says now. Deterministic. */
export function clustersAbove(
  lens: Lens,
  records: Pick<Records, 'rows' | 'sources'>,
  { route, compared, scores }: Pick<Resolution, 'route' | 'compared' | 'scores'>,
): Int32Array {
  const settings = settingsFor(lens)
  const method = lens.clustering ?? (route === 'links' ? 'one_to_one' : 'average_link')
  return byMethod(method, records, compared, scores, boundsGiven(lens, settings) ?? settings)
}

/** Whether an equal rare value says more than an equal common one, in fields that say nothing of it. */
export function hasFrequencies(lens: Lens): boolean {
  return settingsFor(lens).hasFrequencies && !lens.fields[0]?.weights
}

function settingsFor({ told_by }: Lens): Settings {
  return told_by === 'texts' ? forTexts : forPersons
}

/** The most that one pair counts within a cluster, where the least that counts is this; in natural logs. */
export function highestAbove(lens: Lens, floor: number): number {
  const { lowest, highest } = settingsFor(lens)
  return floor + highest - lowest
}

/** By number, when both are there. */
function swappedIn({ swapped }: Lens, { fields }: Records): readonly [number, number] | undefined {
  if (!swapped) return undefined
  const [one, other] = swapped.map((name) => fields.findIndex((field) => field.name === name))
  return one !== undefined && other !== undefined && one >= 0 && other >= 0 ? [one, other] : undefined
}
