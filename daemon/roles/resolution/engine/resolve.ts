// The whole way from records to clusters, by the route that the lens and the data ask for.
import type { Lens } from '../lens/model.ts'
import { oneToOne } from './cluster/one-to-one.ts'
import type { Compared } from './compare/patterns.ts'
import { randomFrom } from './random.ts'
import type { Records } from './records/records.ts'
import { clustered, forPersons, forTexts, resolveClusters, type Settings } from './resolve-clusters.ts'
import { linked, resolveLinks } from './resolve-links.ts'
import { isClean } from './route.ts'

/** `clusters`: any number of records may be one. `links`: two sources that hold each thing once, told by their texts. */
export type Route = 'clusters' | 'links'

export type Resolution = {
  readonly route: Route
  /** The lowest row of each row's cluster. */
  readonly clusters: Int32Array
  readonly compared: Compared
  /** Of each compared pair; log-odds on the route of clusters, a likeness that links are ranked by on that of links. */
  readonly scores: Float64Array
  /** A pair with no more than this says nothing. */
  readonly floor: number
  /** Where the run drew the line between one and two; on the scale of the scores. */
  readonly cut: number
}

export type Tell = (phase: string) => void

/** Deterministic: the same records, lens and seed give the same answer. */
export function resolve(lens: Lens, records: Records, seed: number, tell: Tell): Resolution {
  if (lens.told_by === 'texts' && records.names.length === 2 && isClean(records)) {
    return { route: 'links', floor: 0, ...resolveLinks(records, lens.text_evidence, tell) }
  }
  const swapped = swappedIn(lens, records)
  const settings = settingsFor(lens)
  return {
    route: 'clusters',
    floor: settings.lowest,
    ...resolveClusters(records, { settings, random: randomFrom(seed), swapped, tell }),
  }
}

/** The clusters of pairs that were compared and scored before: the run's own at its own cut. Deterministic. */
export function clustersAt(
  lens: Lens,
  rows: number,
  {
    route,
    compared,
    scores,
  }: Pick<Resolution, 'route' | 'scores'> & {
    readonly compared: Pick<Compared, 'lefts' | 'rights' | 'length'>
  },
  cut: number,
): Int32Array {
  if (route === 'links') return linked(rows, compared, scores, oneToOne(rows, compared, scores), cut)
  return clustered(rows, compared, scores, { ...settingsFor(lens), cut })
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
