// Resolves records of which any number may be one entity: candidates, weights estimated from them, clusters by average
// link.
import type { Lens } from '../lens/model.ts'
import { buildBlocks, forEachPair } from './block/blocks.ts'
import { buildKeys, countKeys } from './block/keys.ts'
import { type BlockingRuleReport, createComparisonScope, forEachLensRulePair } from './block/lens-rules.ts'
import { type ComparisonScope, mayCompare } from './block/pairing.ts'
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
  /** Number of nearest neighbours by text that each record is compared with, besides those of its blocks. */
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

/** Upper limit of rows visited for all pairs of keys: about a second. */
const max_row_visits = 20_000_000
/** Rounds of expectation-maximisation. */
export const em_rounds = 4
/** Smallest evidence of the blocks of a pair together: one shared block of nine rows, or several larger ones. */
const min_block_evidence = 0.125
const max_completions = 3

/** `clusters`: any number of records may be one entity. `links`: two sources that list each thing once. */
export type ResolutionRoute = 'clusters' | 'links'

export type ClusterResult = {
  readonly route: ResolutionRoute
  /** Most clusters have two records, so that no third record supports a pair. */
  readonly areFew: boolean
  readonly clusters: Int32Array
  readonly compared: ComparedPairs
  /** Score of each compared pair, in natural logs of odds. */
  readonly scores: Float64Array
  /**
   * `cut`: the score above which records become one entity. `floor`: the score at and below which a pair carries no
   * evidence.
   */
  readonly cut: number
  readonly floor: number
  /** How fields are compared, and the weights that were estimated or fixed by the lens. */
  readonly compares: PairComparer
  readonly model: MatchModel
  /** Report of the blocking rules of the lens; empty where it gives none. */
  readonly rules: readonly BlockingRuleReport[]
}

export type ResolutionContext = {
  readonly lens: Lens
  readonly settings: ClusteringSettings
  readonly random: () => number
  readonly swapped: readonly [number, number] | undefined
  readonly report: EngineProgressListener
}

/** Throws `LensFault` for blocking rules that do not fit the data. */
export function resolveClusters(records: LensRecords, context: ResolutionContext): ClusterResult {
  const { lens, report } = context
  const { rows } = records
  const { compares, list, add, rules, copies } = gatherCandidates(records, context)
  reportPhaseStart(report, 'train')
  const weighed = createLensModel(lens, compares)
  const model = weighed ?? learnWeights(records, compares, list, context, copies)
  reportPhaseStart(report, 'cluster')
  const settings = applyLensCut(lens, context.settings) ?? context.settings
  const scores = computePairScores(compares, list.compared(), model)
  const { isFinal, ...found } = groupRecords(lens, records, list.compared(), scores, context.settings, report)
  const common = { compares, rules, model }
  if (isFinal) return { ...common, ...found, compared: list.compared() }
  const isMany = hasManyRecords(records)
  const { isFinal: _, ...whole } = completeClusters(
    { compares, rows, list, add, settings, model },
    { ...found, isFinal },
    {
      max_rounds: isMany ? 1 : max_completions,
      isLearning: settings.hasFrequencies && !weighed && !isMany,
      report,
    },
  )
  return { ...common, ...whole, compared: list.compared() }
}

/** Finds and compares all candidates. Throws `LensFault`. */
export function gatherCandidates(records: LensRecords, { lens, settings, random, swapped, report }: ResolutionContext) {
  const { rows, fields } = records
  const terms = computeFrequencyTerms(fields, rows, settings.hasFrequencies && !lens.fields[0]?.weights)
  const compares = createPairComparer(fields, swapped, 0 - lens.null_penalty * Math.LN2, terms)
  const list = new PairList(compares)
  const add = createPairAdder(createComparisonScope(lens, records), list)
  reportPhaseStart(report, 'candidates')
  const rules = forEachLensRulePair(lens, records, report, add)
  if (rules) return { compares, list, add, rules }
  if (hasManyRecords(records)) {
    const copies = forEachCandidateOfMany(compares, records, { random, report }, add)
    return { compares, list, add, rules: [], copies }
  }
  const keys = fields.flatMap(({ type, column }, field) => buildKeys(type, column, field))
  const blocks = buildBlocks(keys, settings.cap)
  const extra = rows < max_neighbour_rows ? findNeighbourRows(records, settings.neighbours) : undefined
  const compared = throttleProgress(report, 'compare', rows)
  forEachPair(rows, blocks, min_block_evidence, extra, (a, b) => {
    compared(a)
    add(a, b)
  })
  return { compares, list, add, rules: [] }
}

/** Adds only pairs of records that may be compared. */
function createPairAdder(sides: ComparisonScope, list: PairList): (a: number, b: number) => void {
  if (!sides.sources) return (a, b) => list.add(a, b)
  return (a, b) => {
    if (mayCompare(sides, a, b)) list.add(a, b)
  }
}

function learnWeights(
  records: LensRecords,
  compares: PairComparer,
  list: PairList,
  { random }: ResolutionContext,
  copies: readonly number[] | undefined,
): MatchModel {
  if (hasManyRecords(records)) return learnWeightsOfMany(compares, records, list, random, copies)
  return trainModel(createUntrainedModel(records, compares, random), compares, list.compared(), em_rounds)
}

/** The model before training: u from pairs drawn at random, m from typical shapes. */
export function createUntrainedModel({ rows }: LensRecords, compares: PairComparer, random: () => number): MatchModel {
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  return createInitialModel(compares, drawPairs(compares, rows, random), lambda)
}

/** Pairs of keys of all fields are too many for many records; a few agreement rules suffice there. */
function hasManyRecords({ fields, rows }: LensRecords): boolean {
  const counts = fields.map(({ type }) => countKeys(type))
  const all = counts.reduce((sum, count) => sum + count, 0)
  const key_pairs = (all * all - counts.reduce((sum, count) => sum + count * count, 0)) / 2
  return rows * key_pairs > max_row_visits
}

/**
 * Nearest neighbours of each row in both directions: a pair counts when either row is among the nearest of the other.
 */
function findNeighbourRows(records: LensRecords, k: number): (row: number) => readonly number[] {
  const { found } = findNearestNeighbours(buildTfidfVectors(joinRecordTexts(records), createTrigramTokeniser()), k)
  const others: number[][] = Array.from({ length: records.rows }, () => [])
  for (let row = 0; row < records.rows; row++) {
    for (const other of found.subarray(row * k, (row + 1) * k)) {
      if (other > row) others[row]!.push(other)
      else if (other >= 0) others[other]!.push(row)
    }
  }
  return (row) => others[row]!
}
