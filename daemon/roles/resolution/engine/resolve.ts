// The whole way from records to clusters, by the route that the lens and the data ask for.
import type { Lens } from '../lens/model.ts'
import { linkedAcross } from './cluster/clean-sources.ts'
import { clustered } from './cluster/clustered.ts'
import type { Compared } from './compare/patterns.ts'
import type { Tell } from './progress.ts'
import { randomFrom } from './random.ts'
import type { Records } from './records/records.ts'
import { forPersons, forTexts, type Route, resolveClusters, type Settings } from './resolve-clusters.ts'
import { resolveLinks } from './resolve-links.ts'
import { isClean } from './route.ts'
import { most_rows_for_neighbours } from './text/vectors.ts'

export type Scale = 'log_odds' | 'likeness'

export type Resolution = {
  readonly route: Route
  /** The lowest row of each row's cluster. */
  readonly clusters: Int32Array
  readonly compared: Compared
  readonly scores: Float64Array
  /** What scores are: natural logs of odds, or where texts tell, a likeness that links are ranked by. */
  readonly scale: Scale
  /** A pair with no more than this says nothing. */
  readonly floor: number
}

/** Deterministic: the same records, lens and seed give the same answer. */
export function resolve(lens: Lens, records: Records, seed: number, tell: Tell): Resolution {
  const byTexts = (isAcross: boolean): Resolution => {
    const wanted = { evidence: lens.text_evidence, isAcross }
    return { route: 'links', scale: 'likeness', floor: 0, ...resolveLinks(records, wanted, tell) }
  }
  const isText = lens.told_by === 'texts'
  if (isText && records.names.length === 2 && isClean(records)) return byTexts(true)
  const settings = settingsFor(lens)
  const given = { settings, random: randomFrom(seed), swapped: swappedIn(lens, records), tell }
  const { areFew, ...found } = resolveClusters(records, given)
  if (isText && areFew && records.rows <= most_rows_for_neighbours) return agreed(byTexts(false), found.clusters)
  return { floor: settings.lowest, scale: 'log_odds', ...found }
}

/** Of pairs that no third supports, being nearest counts only where the fields say so too, and the other way round. */
function agreed(links: Resolution, clusters: Int32Array): Resolution {
  const both = links.clusters.map((linked, row) => (clusters[linked] === clusters[row] ? linked : row))
  return { ...links, clusters: both }
}

const room = 4

/** The clusters of pairs scored by log-odds, by another line between one and two than the run drew. Deterministic. */
export function clustersAbove(
  lens: Lens,
  records: Pick<Records, 'rows' | 'sources'>,
  { route, compared, scores }: Pick<Resolution, 'route' | 'compared' | 'scores'>,
  cut: number,
): Int32Array {
  if (route === 'links') return linkedAcross(records.sources, compared, scores, cut)
  const settings = settingsFor(lens)
  // Scores count on both sides of the line, wherever it is.
  const [lowest, highest] = [Math.min(settings.lowest, cut - room), Math.max(settings.highest, cut + room)]
  return clustered(records.rows, compared, scores, { ...settings, lowest, highest, cut })
}

function settingsFor({ told_by }: Lens): Settings {
  return told_by === 'texts' ? forTexts : forPersons
}

/** By number, when both are there. */
function swappedIn({ swapped }: Lens, { fields }: Records): readonly [number, number] | undefined {
  if (!swapped) return undefined
  const [one, other] = swapped.map((name) => fields.findIndex((field) => field.name === name))
  return one !== undefined && other !== undefined && one >= 0 && other >= 0 ? [one, other] : undefined
}
