// Finds the pairs of records that may be one entity, and compares them.
import type { Lens } from '../lens/model.ts'
import { blockRule, buildBlocks, forEachPair } from './block/blocks.ts'
import { type BlockingKey, buildKeys, countKeys } from './block/keys.ts'
import { createComparisonScope, forEachLensRulePair } from './block/lens-rules.ts'
import { type ComparisonScope, mayCompare } from './block/pairing.ts'
import { nearestTexts, unblocked } from './block/rule-names.ts'
import { createPairComparer } from './compare/pair-comparer.ts'
import { PairList } from './compare/patterns.ts'
import { forEachCandidateOfMany } from './many-records.ts'
import { reportPhaseStart, throttleProgress } from './progress.ts'
import type { LensRecords } from './records/records.ts'
import { joinRecordTexts } from './records/texts.ts'
import type { ResolutionContext } from './resolution-context.ts'
import { computeFrequencyTerms } from './score/pair-scores.ts'
import { findNearestNeighbours, max_neighbour_rows } from './text/nearest-neighbours.ts'
import { buildTfidfVectors } from './text/tfidf-vectors.ts'
import { createTrigramTokeniser } from './text/tokeniser.ts'
import { createConflictTest } from './variants/conflicting-titles.ts'
import { readTitleWords } from './variants/title-words.ts'
import { findVariantWords } from './variants/variant-words.ts'

/** Limit of rows visited for all pairs of keys: about a second. */
const max_row_visits = 20_000_000
/** Limit of rows for neighbours of records with one fact in each field, which their keys find nearly as well. */
const max_fact_neighbour_rows = 20_000
/** Minimum evidence of all blocks of a pair: one shared block of nine rows, or several larger ones. */
export const min_block_evidence = 0.125

export type Candidates = ReturnType<typeof gatherCandidates>

/** Finds and compares all candidates. Variants of one thing are not candidates. Throws `LensFault`. */
export function gatherCandidates(records: LensRecords, context: ResolutionContext) {
  const candidates = comparePairs(records, context)
  const { lens } = context
  if (lens.told_by !== 'texts' || lens.blocking !== 'automatic') return candidates
  const titles = readTitleWords(records)
  if (!titles) return candidates
  const { list, add } = candidates
  const compared = list.compared()
  const countPair = throttleProgress(context.report, 'variants', 2 * compared.length)
  const areVariants = createConflictTest(titles, findVariantWords(titles, compared, countPair))
  let passed = compared.length
  list.retain((a, b) => {
    countPair(passed++)
    return !areVariants(a, b)
  })
  return {
    ...candidates,
    add: (a: number, b: number, rule?: number) => {
      if (!areVariants(a, b)) add(a, b, rule)
    },
  }
}

function comparePairs(records: LensRecords, { lens, settings, random, swapped, report }: ResolutionContext) {
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
  const keys = fields.flatMap((column, field) => buildKeys(column, field))
  const blocks = buildBlocks(keys, settings.cap)
  const k = chooseNeighbourCount(lens, rows, settings.neighbours)
  const extra = k > 0 ? findNeighbourRows(records, k) : undefined
  const countRow = throttleProgress(report, 'compare', rows)
  // The number after those of all pairs of keys, as its name is the last one.
  const nearest = blockRule(keys.length, keys.length, 0)
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

/** Returns the number of nearest neighbours of each record; 0 for more records than the search is worth. */
export function chooseNeighbourCount({ told_by }: Lens, rows: number, neighbours: number): number {
  const max_rows = told_by === 'texts' ? max_neighbour_rows : max_fact_neighbour_rows
  return rows <= max_rows ? neighbours : 0
}

/** Creates a function that adds only pairs of records that may be compared. */
function createPairAdder(scope: ComparisonScope, list: PairList): (a: number, b: number, rule?: number) => void {
  if (!scope.sources) return (a, b, rule) => list.add(a, b, rule)
  return (a, b, rule) => {
    if (mayCompare(scope, a, b)) list.add(a, b, rule)
  }
}

/** Whether pairs of keys of all fields would be too many; a few agreement rules then suffice. */
export function hasManyRecords({ fields, rows }: LensRecords): boolean {
  const counts = fields.map(countKeys)
  const keys = counts.reduce((sum, count) => sum + count, 0)
  const key_pairs = (keys * keys - counts.reduce((sum, count) => sum + count * count, 0)) / 2
  return rows * key_pairs > max_row_visits
}

/**
 * Finds the nearest neighbours of each row in both directions: a pair counts if either row is among the nearest of the
 * other.
 */
export function findNeighbourRows(records: LensRecords, k: number): (row: number) => readonly number[] {
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
