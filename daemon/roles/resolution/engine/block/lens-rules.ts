// Candidates by the blocking rules of a lens: each pair once, under the first rule that produces it.
import { type BlockingRule, listRuleFields, normaliseBlockingRule } from '../../lens/blocking.ts'
import type { Lens } from '../../lens/model.ts'
import { type EngineProgressListener, throttleProgress } from '../progress.ts'
import { LensFault, type LensRecords } from '../records/records.ts'
import { pairNearestTexts, pairSortedNeighbours } from './neighbourhood.ts'
import { type ComparisonScope, type OversizedBlock, pairByKeys, type RulePairing } from './pairing.ts'

/** Effect of one blocking rule on the data. */
export type BlockingRuleReport = {
  readonly rule: string
  readonly pairs: number
  readonly blocks: number
  readonly largest: number
  readonly left_out: readonly OversizedBlock[]
  readonly left_out_count: number
}

/** `rule`: 1-based number of the rule that produces the pair. */
type PairVisitor = (a: number, b: number, rule: number) => void

/** Limit of pairs that fit into memory. */
const max_pairs = 250_000_000

export function createComparisonScope({ link_only }: Lens, { rows, sources }: LensRecords): ComparisonScope {
  return { rows, sources: link_only ? sources : undefined }
}

/**
 * Applies the rules of a lens to this data; undefined where the lens leaves blocking to the engine. Throws `LensFault`.
 */
export function buildRulePairings(lens: Lens, records: LensRecords): RulePairing[] | undefined {
  if (lens.blocking === 'automatic') return undefined
  const scope = createComparisonScope(lens, records)
  const hasField = (name: string) => records.fields.some((field) => field.name === name)
  const usable = lens.blocking.map(normaliseBlockingRule).filter((rule) => listRuleFields(rule).every(hasField))
  if (usable.length === 0)
    throw new LensFault('no blocking rule has all its fields in the data: change the rules, or add columns')
  return usable.map((rule) => buildRulePairing(rule, lens, records, scope))
}

function buildRulePairing(
  rule: BlockingRule,
  { max_block }: Lens,
  { fields }: LensRecords,
  scope: ComparisonScope,
): RulePairing {
  if (rule.kind === 'keys') return pairByKeys(rule.keys, fields, scope, max_block)
  if (rule.kind === 'sorted_neighbourhood') return pairSortedNeighbours(rule.by, rule.window, fields, scope)
  return pairNearestTexts(rule.fields, rule.k, fields, scope)
}

/**
 * Calls `pair` once with each pair that a rule of the lens produces, `a` below `b`; undefined where the lens leaves
 * blocking to the engine. Throws `LensFault` where the rules produce more pairs than fit into memory.
 */
export function forEachLensRulePair(
  lens: Lens,
  records: LensRecords,
  report: EngineProgressListener,
  pair: PairVisitor,
): readonly BlockingRuleReport[] | undefined {
  const pairings = buildRulePairings(lens, records)
  if (!pairings) return undefined
  const total = pairings.reduce((sum, { pairs }) => sum + pairs, 0)
  if (total > max_pairs) {
    const counts = pairings.map(({ name, pairs }) => `${name}: ${pairs}`).join('; ')
    throw new LensFault(`the blocking rules make more than ${max_pairs} pairs (${counts}): make the rules narrower`)
  }
  const countPair = throttleProgress(report, 'compare', total)
  let count = 0
  for (const [at, pairing] of pairings.entries()) {
    const earlier = pairings.slice(0, at)
    pairing.each((a, b) => {
      countPair(count++)
      for (const other of earlier) if (other.has(a, b)) return
      pair(a, b, at + 1)
    })
  }
  return [...pairings.map(toRuleReport), ...reportUnusableRules(lens, records)]
}

export function toRuleReport({ name, pairs, blocks, largest, leftOut, leftOutCount }: RulePairing): BlockingRuleReport {
  return { rule: name, pairs, blocks, largest, left_out: leftOut, left_out_count: leftOutCount }
}

/** Reports rules that name fields which this data does not have. */
export function reportUnusableRules({ blocking }: Lens, { fields }: LensRecords): BlockingRuleReport[] {
  if (blocking === 'automatic') return []
  const findMissingFields = (rule: BlockingRule) =>
    listRuleFields(rule).filter((name) => !fields.some((field) => field.name === name))
  return blocking.map(normaliseBlockingRule).flatMap((rule) => {
    const names = findMissingFields(rule)
    if (names.length === 0) return []
    const reason = `not used, the data has no ${names.join(', ')}`
    return [{ rule: reason, pairs: 0, blocks: 0, largest: 0, left_out: [], left_out_count: 0 }]
  })
}
