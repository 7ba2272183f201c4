// Settings, context and result that the steps of a resolution share.
import type { Lens } from '../lens/model.ts'
import type { BlockingRuleReport } from './block/lens-rules.ts'
import type { PairComparer } from './compare/pair-comparer.ts'
import type { ComparedPairs } from './compare/patterns.ts'
import type { EngineProgressListener } from './progress.ts'
import type { MatchModel } from './score/model.ts'

/** Parameters that differ between kinds of data. */
export type ClusteringSettings = {
  /** Largest block, in rows. */
  readonly cap: number
  /** Number of nearest neighbours by text that each record is compared with, in addition to its blocks. */
  readonly neighbours: number
  /** Scores are clamped to `lowest` and `highest`; clusters join while their mean score is above `cut`. */
  readonly lowest: number
  readonly highest: number
  readonly cut: number
  readonly hasFrequencies: boolean
}

export const personSettings: ClusteringSettings = {
  cap: 60,
  neighbours: 10,
  lowest: -4,
  highest: 4,
  cut: -2,
  hasFrequencies: true,
}
export const textSettings: ClusteringSettings = { ...personSettings, cap: 30, neighbours: 15, hasFrequencies: false }

/** Rounds in which clusters are completed. */
export const max_completions = 3

/** Route of a resolution. `clusters`: any number of records may be one entity. `links`: each source lists it once. */
export type ResolutionRoute = 'clusters' | 'links'

/**
 * Why a route was taken. `lens`: the lens sets the threshold, the method or the weights. `many_records`: pairs of all keys
 * would be too many. `clean_sources`: neither of two sources lists an entity twice. `large_entities`, `small_entities`:
 * sure matches form clusters of many records, or of few. `single_matches`: no record seems to have two matches.
 */
export const route_reasons = [
  'lens',
  'many_records',
  'clean_sources',
  'large_entities',
  'small_entities',
  'single_matches',
] as const
export type RouteReason = (typeof route_reasons)[number]

/**
 * Source of the weights and the prior. `candidates`: each candidate by itself. `competition`: the candidates of
 * a record, of which one is the match. `clusters`: the clusters of a first result.
 */
export const trainings = ['lens', 'candidates', 'competition', 'clusters'] as const
export type Training = (typeof trainings)[number]

export type ClusterResult = {
  readonly route: ResolutionRoute
  readonly reason: RouteReason
  readonly training: Training
  /** Names of the rules that found the pairs, by their number in `compared`. */
  readonly ruleNames: readonly string[]
  readonly clusters: Int32Array
  readonly compared: ComparedPairs
  /** Score of each compared pair, in natural logs of odds. */
  readonly scores: Float64Array
  /**
   * `cut`: score above which records become one entity. `floor`: score at and below which a pair has no evidence.
   */
  readonly cut: number
  readonly floor: number
  /** The comparison of fields, and the weights that were estimated or fixed by the lens. */
  readonly comparer: PairComparer
  readonly model: MatchModel
  /** Report of the blocking rules of the lens; empty for automatic blocking. */
  readonly rules: readonly BlockingRuleReport[]
}

export type ResolutionContext = {
  readonly lens: Lens
  readonly settings: ClusteringSettings
  readonly random: () => number
  readonly swapped: readonly [number, number] | undefined
  readonly report: EngineProgressListener
}
