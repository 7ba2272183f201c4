// Resolves records when any number may be one entity: finds candidates, estimates weights, clusters by average link.
import type { Lens } from '../lens/model.ts'
import { blockRule, buildBlocks, forEachPair } from './block/blocks.ts'
import { type BlockingKey, buildKeys, countKeys } from './block/keys.ts'
import { type BlockingRuleReport, createComparisonScope, forEachLensRulePair } from './block/lens-rules.ts'
import { type ComparisonScope, mayCompare } from './block/pairing.ts'
import { nearestTexts, unblocked } from './block/rule-names.ts'
import { applyLensCut, groupRecords } from './cluster/clustering.ts'
import { createPairComparer, type PairComparer } from './compare/pair-comparer.ts'
import { type ComparedPairs, drawPairs, PairList } from './compare/patterns.ts'
import { completeClusters } from './complete-clusters.ts'
import { forEachCandidateOfMany, learnWeightsOfMany } from './many-records.ts'
import { type EngineProgressListener, reportPhaseStart, throttleProgress } from './progress.ts'
import type { LensRecords } from './records/records.ts'
import { joinRecordTexts } from './records/texts.ts'
import { createLensModel } from './score/lens-model.ts'
import { createInitialModel, type MatchModel, trainModel } from './score/model.ts'
import { computeFrequencyTerms, computePairScores } from './score/pair-scores.ts'
import { buildTfidfVectors, findNearestNeighbours, max_neighbour_rows } from './text/tfidf-vectors.ts'
import { createTrigramTokeniser } from './text/tokeniser.ts'

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
export const textSettings: ClusteringSettings = {
  cap: 30,
  neighbours: 15,
  lowest: -8,
  highest: 8,
  cut: 0,
  hasFrequencies: false,
}

/** Limit of rows visited for all pairs of keys: about a second. */
const max_row_visits = 20_000_000
/** Rounds of expectation-maximisation. */
export const em_rounds = 4
/** Minimum evidence of all blocks of a pair: one shared block of nine rows, or several larger ones. */
const min_block_evidence = 0.125
const max_completions = 3

/** Route of a resolution. `clusters`: any number of records may be one entity. `links`: each source lists it once. */
export type ResolutionRoute = 'clusters' | 'links'

export type ClusterResult = {
  readonly route: ResolutionRoute
  /** Whether most clusters have two records, so that no third record supports a pair. */
  readonly areFew: boolean
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

/** Resolves records to clusters. Throws `LensFault` for blocking rules that do not fit the data. */
export function resolveClusters(records: LensRecords, context: ResolutionContext): ClusterResult {
  const { lens, report } = context
  const { rows } = records
  const { comparer, list, add, rules, ruleNames, copies } = gatherCandidates(records, context)
  reportPhaseStart(report, 'train')
  const lensModel = createLensModel(lens, comparer)
  const model = lensModel ?? learnWeights(records, comparer, list, context, copies)
  reportPhaseStart(report, 'cluster')
  const settings = applyLensCut(lens, context.settings) ?? context.settings
  const scores = computePairScores(comparer, list.compared(), model)
  const { isFinal, ...grouping } = groupRecords(lens, records, list.compared(), scores, context.settings, report)
  const common = { comparer, rules, ruleNames, model }
  if (isFinal) return { ...common, ...grouping, compared: list.compared() }
  const isMany = hasManyRecords(records)
  const { isFinal: _, ...completed } = completeClusters(
    { comparer, rows, list, add, settings, model },
    { ...grouping, isFinal },
    {
      max_rounds: isMany ? 1 : max_completions,
      isLearning: settings.hasFrequencies && !lensModel && !isMany,
      report,
    },
  )
  return { ...common, ...completed, compared: list.compared() }
}

/** Finds and comparer all candidates. Throws `LensFault`. */
export function gatherCandidates(records: LensRecords, { lens, settings, random, swapped, report }: ResolutionContext) {
  const { rows, fields } = records
  const terms = computeFrequencyTerms(fields, rows, settings.hasFrequencies && !lens.fields[0]?.weights)
  const comparer = createPairComparer(fields, swapped, 0 - lens.null_penalty * Math.LN2, terms)
  const list = new PairList(comparer)
  const add = createPairAdder(createComparisonScope(lens, records), list)
  reportPhaseStart(report, 'candidates')
  const rules = forEachLensRulePair(lens, records, report, add)
  if (rules) return { comparer, list, add, rules, ruleNames: [unblocked, ...rules.map(({ rule }) => rule)] }
  if (hasManyRecords(records)) {
    const { copies, names } = forEachCandidateOfMany(comparer, records, { random, report }, add)
    return { comparer, list, add, rules: [], ruleNames: [unblocked, ...names], copies }
  }
  const keys = fields.flatMap(({ type, column }, field) => buildKeys(type, column, field))
  const blocks = buildBlocks(keys, settings.cap)
  const extra = rows <= max_neighbour_rows ? findNeighbourRows(records, settings.neighbours) : undefined
  const countRow = throttleProgress(report, 'compare', rows)
  const nearest = blockRule(keys.length, keys.length)
  forEachPair(rows, blocks, min_block_evidence, extra, (a, b, rule) => {
    countRow(a)
    add(a, b, rule || nearest)
  })
  const nameOf = ({ field, name }: BlockingKey) => `${fields[field]?.name}: ${name}`
  const ruleNames = keys.flatMap((key) =>
    keys.map((other) => (key === other ? nameOf(key) : `${nameOf(key)} + ${nameOf(other)}`)),
  )
  return { comparer, list, add, rules: [], ruleNames: [unblocked, ...ruleNames, nearestTexts] }
}

/** Creates a function that adds only pairs of records that may be compared. */
function createPairAdder(scope: ComparisonScope, list: PairList): (a: number, b: number, rule?: number) => void {
  if (!scope.sources) return (a, b, rule) => list.add(a, b, rule)
  return (a, b, rule) => {
    if (mayCompare(scope, a, b)) list.add(a, b, rule)
  }
}

function learnWeights(
  records: LensRecords,
  comparer: PairComparer,
  list: PairList,
  { random }: ResolutionContext,
  copies: readonly number[] | undefined,
): MatchModel {
  if (hasManyRecords(records)) return learnWeightsOfMany(comparer, records, list, random, copies)
  return trainModel(createUntrainedModel(records, comparer, random), comparer, list.compared(), em_rounds)
}

/** Creates the model before training: u from random pairs, m from typical shapes. */
export function createUntrainedModel({ rows }: LensRecords, comparer: PairComparer, random: () => number): MatchModel {
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  return createInitialModel(comparer, drawPairs(comparer, rows, random), lambda)
}

/** Whether pairs of keys of all fields would be too many; a few agreement rules then suffice. */
function hasManyRecords({ fields, rows }: LensRecords): boolean {
  const counts = fields.map(({ type }) => countKeys(type))
  const keys = counts.reduce((sum, count) => sum + count, 0)
  const key_pairs = (keys * keys - counts.reduce((sum, count) => sum + count * count, 0)) / 2
  return rows * key_pairs > max_row_visits
}

/**
 * Finds the nearest neighbours of each row in both directions: a pair counts if either row is among the nearest of the
 * other.
 */
function findNeighbourRows(records: LensRecords, k: number): (row: number) => readonly number[] {
  const { neighbours } = findNearestNeighbours(buildTfidfVectors(joinRecordTexts(records), createTrigramTokeniser()), k)
  const others: number[][] = Array.from({ length: records.rows }, () => [])
  for (let row = 0; row < records.rows; row++) {
    for (const other of neighbours.subarray(row * k, (row + 1) * k)) {
      if (other > row) others[row]!.push(other)
      else if (other >= 0) others[other]!.push(row)
    }
  }
  return (row) => others[row]!
}
