// Chooses agreement rules for many records: a few fields, or pairs of fields, that rarely agree except for one entity.
import { drawRows, type RowTable } from '../compare/row-table.ts'
import { computeChanceAgreement } from '../score/overlap.ts'
import { type AgreementRule, forEachRulePair, max_rules, rowsAgree } from './rule-pairs.ts'

/** Limits of the pairs of one rule, and of all rules together, per row. */
const max_rule_pairs_per_row = 1
const max_pairs_per_row = 5
/** Minimum gain of a rule, as a share of the matches already found. */
const min_gain = 0.002
/** Sampled pairs of a rule at its limit: enough for an estimate within a tenth. */
const sampled_pairs = 3_000

type RuleEstimate = { readonly rule: AgreementRule; readonly mask: number; readonly pairs: number }

/**
 * Chooses rules in the order of their gain. A uniform sample of rows gives the estimates: the pairs of a rule, and the
 * number of likely matches among them, which agree more than chance explains. `sizes`: rows per value of each field;
 * `copies`: how often the evidence of a field is repeated.
 */
export function chooseRules(
  table: RowTable,
  sizes: readonly Int32Array[],
  copies: readonly number[],
  random: () => number,
): AgreementRule[] {
  const sample = sampleRows(table, random)
  const scale = (table.rows / sample.rows) ** 2
  const chances = sizes.map((fieldSizes) => computeChanceAgreement(fieldSizes, table.rows))
  const shared = chances.map((chance, field) => chance ** (1 / copies[field]!))
  const estimates = listCandidateRules(chances, table.rows).map((rule): RuleEstimate => {
    let pairs = 0
    forEachRulePair(sample, [rule], sample.rows, () => pairs++)
    return { rule, mask: rule.reduce((mask, field) => mask | (1 << field), 0), pairs: pairs * scale }
  })
  const cheap = estimates
    .sort((a, b) => a.pairs - b.pairs)
    .filter(({ pairs }, at) => at === 0 || pairs <= max_rule_pairs_per_row * table.rows)
    .slice(0, max_rules)
  return selectRules(cheap, estimateMatchesByMask(sample, shared, cheap, scale), table.rows)
}

/** Lists each field and each pair of fields, without rules that chance alone makes too frequent. */
function listCandidateRules(chances: readonly number[], rows: number): AgreementRule[] {
  const singles = chances.map((_, field) => [field])
  const pairs = singles.flatMap(([field = 0]) => chances.slice(0, field).map((_, other) => [other, field]))
  const chanceOfRule = (rule: AgreementRule) => rule.reduce((product, field) => product * chances[field]!, 1)
  const sorted = [...singles, ...pairs].sort((a, b) => chanceOfRule(a) - chanceOfRule(b))
  return sorted.filter((rule, at) => at === 0 || (chanceOfRule(rule) * rows) / 2 <= max_rule_pairs_per_row)
}

function sampleRows({ rows, width, values }: RowTable, random: () => number): RowTable {
  const drawn = drawRows(rows, Math.ceil(Math.sqrt(sampled_pairs * rows)), random)
  const sampled = new Int32Array(drawn.length * width)
  for (const [at, row] of drawn.entries()) sampled.set(values.subarray(row * width, (row + 1) * width), at * width)
  return { rows: drawn.length, width, values: sampled }
}

/** Estimates the matches among the pairs of cheap rules, by the set of fields (as bits) in which they agree. */
function estimateMatchesByMask(
  sample: RowTable,
  chances: readonly number[],
  cheap: readonly RuleEstimate[],
  scale: number,
): Map<number, number> {
  const counts = new Map<number, number>()
  const singles = chances.map((_, field) => [field])
  forEachRulePair(
    sample,
    cheap.map(({ rule }) => rule),
    sample.rows,
    (a, b) => {
      let mask = 0
      for (let field = 0; field < singles.length; field++)
        if (rowsAgree(sample, singles[field]!, a, b)) mask |= 1 << field
      counts.set(mask, (counts.get(mask) ?? 0) + 1)
    },
  )
  const rows = sample.rows
  const pairs = (rows * (rows - 1)) / 2
  for (const [mask, count] of counts) {
    const byChance = chances.reduce(
      (product, chance, field) => ((mask >>> field) & 1 ? product * chance : product),
      pairs,
    )
    counts.set(mask, Math.max(0, count - byChance) * scale)
  }
  return counts
}

function selectRules(cheap: readonly RuleEstimate[], likely: Map<number, number>, rows: number): AgreementRule[] {
  const rules: AgreementRule[] = []
  let [matches, pairs] = [0, 0]
  for (;;) {
    let best: { estimate: RuleEstimate; gain: number } | undefined
    for (const estimate of cheap) {
      let gain = 0
      for (const [mask, count] of likely) if ((mask & estimate.mask) === estimate.mask) gain += count
      if (!best || gain > best.gain) best = { estimate, gain }
    }
    if (!best) return rules
    const { rule, mask: ruleMask, pairs: rulePairs } = best.estimate
    const isEnough = best.gain <= matches * min_gain || pairs + rulePairs > max_pairs_per_row * rows
    if (rules.length > 0 && isEnough) return rules
    rules.push(rule)
    matches += best.gain
    pairs += rulePairs
    for (const mask of [...likely.keys()]) if ((mask & ruleMask) === ruleMask) likely.delete(mask)
  }
}
