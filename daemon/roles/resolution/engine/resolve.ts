// Resolves records to clusters by the route that the lens and the data require.
import type { Lens } from '../lens/model.ts'
import { areTextsClean } from './clean-texts.ts'
import { applyLensCut, clusterByMethod } from './cluster/clustering.ts'
import { findSwappedFields } from './compare/swapped-fields.ts'
import type { EngineProgressListener } from './progress.ts'
import { createRandom } from './random.ts'
import type { LensRecords } from './records/records.ts'
import {
  type ClusteringSettings,
  type ClusterResult,
  personSettings,
  type ResolutionContext,
  textSettings,
} from './resolution-context.ts'
import { resolveClusters } from './resolve-clusters.ts'
import { resolveLinks } from './resolve-links.ts'
import { max_neighbour_rows } from './text/nearest-neighbours.ts'

export type ScoreScale = 'log_odds' | 'likeness'

/** The stored part of a resolution; `clusters` has the lowest row of each row's cluster. */
export type Resolution = Pick<
  ClusterResult,
  'route' | 'reason' | 'training' | 'clusters' | 'compared' | 'ruleNames' | 'scores' | 'floor' | 'cut'
> & {
  /** Scale of scores: natural log-odds, or the text similarity that ranks links. */
  readonly scale: ScoreScale
}

/** A resolution with the comparisons and the model that produced it. */
export type DetailedResolution = Resolution & ClusterResult

/** Resolves records. The same records, lens and seed give the same result. Throws `LensFault`. */
export function resolveRecords(
  lens: Lens,
  records: LensRecords,
  seed: number,
  report: EngineProgressListener,
): DetailedResolution {
  const areTexts = lens.told_by === 'texts' && leavesMethodOpen(lens) && records.rows <= max_neighbour_rows
  if (areTexts && records.names.length === 2 && areTextsClean(records)) {
    const basis = { route: 'links', reason: 'clean_sources', scale: 'likeness', floor: 0, rules: [] } as const
    return { ...basis, ...resolveLinks(records, lens, report) }
  }
  const result = resolveClusters(records, createResolutionContext(lens, records, seed, report))
  return { scale: 'log_odds', ...result }
}

/** Creates the settings and the random generator of the engine for a lens and its data. */
export function createResolutionContext(
  lens: Lens,
  records: LensRecords,
  seed: number,
  report: EngineProgressListener,
): ResolutionContext {
  return {
    lens,
    settings: chooseClusteringSettings(lens),
    random: createRandom(seed),
    swapped: findSwappedFields(lens, records.fields),
    report,
  }
}

/**
 * Whether the lens leaves the method open. Links of texts are ranked by similarity, without bits, blocks or a choice of
 * clustering.
 */
function leavesMethodOpen({ blocking, threshold, clustering, fields }: Lens): boolean {
  return blocking === 'automatic' && threshold === undefined && clustering === undefined && !fields[0]?.weights
}

/** Clusters pairs scored by log-odds again, with the current cut of the lens. Deterministic. */
export function clusterAboveCut(
  lens: Lens,
  records: Pick<LensRecords, 'rows' | 'sources'>,
  resolution: Resolution,
): Resolution {
  const settings = chooseClusteringSettings(lens)
  const bounds = applyLensCut(lens, settings) ?? settings
  const method = lens.clustering ?? (resolution.route === 'links' ? 'one_to_one' : 'average_link')
  const clusters = clusterByMethod(method, records, resolution.compared, resolution.scores, bounds)
  return { ...resolution, reason: 'lens', clusters, cut: bounds.cut }
}

/** Whether an equal rare value weighs more than an equal common value, in fields that do not specify it. */
export function usesTermFrequencies(lens: Lens): boolean {
  return chooseClusteringSettings(lens).hasFrequencies && !lens.fields[0]?.weights
}

function chooseClusteringSettings({ told_by }: Lens): ClusteringSettings {
  return told_by === 'texts' ? textSettings : personSettings
}

/** Computes the highest score of one pair within a cluster for a floor, in natural logs. */
export function computeHighestScore(lens: Lens, floor: number): number {
  const { lowest, highest } = chooseClusteringSettings(lens)
  return floor + highest - lowest
}
