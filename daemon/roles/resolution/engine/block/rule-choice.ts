// Chooses agreement rules for many records: a few fields or pairs of fields that hardly any but the same entity share.
import { drawRows, type RowTable } from '../compare/row-table.ts'
import { computeChanceAgreement } from '../score/overlap.ts'
import { type AgreementRule, forEachRulePair, max_rules, rowsAgree } from './rule-pairs.ts'

/** Limits of the pairs of one rule, and of all rules together, per row. */
const max_rule_pairs_per_row = 1
const max_pairs_per_row = 5
/** A rule that adds less than this share of the matches already found is not worth its pairs. */
const min_gain = 0.002
/** Sampled pairs of a rule at the limit: enough for an estimate within a tenth. */
const sampled_pairs = 3_000

type RuleEstimate = { readonly rule: AgreementRule; readonly mask: number; readonly pairs: number }

/**
 * Rules in the order of their gain. All figures are estimated from a uniform sample of rows: the pairs of a rule, and
 * how many of them are likely one entity, because they agree more than chance explains. `sizes`: rows per value of each
 * field; `copies`: how many times over the evidence of a field is repeated.
 */
export function chooseRules(
  table: RowTable,
  sizes: readonly Int32Array[],
  copies: readonly number[],
  random: () => number,
): AgreementRule[] {
  const sample = sampleRows(table, random)
  const scale = (table.rows / sample.rows) ** 2
  const chances = sizes.map((of) => computeChanceAgreement(of, table.rows))
  const shared = chances.map((chance, field) => chance ** (1 / copies[field]!))
  const all = listCandidateRules(chances, table.rows).map((rule): RuleEstimate => {
    let pairs = 0
    forEachRulePair(sample, [rule], sample.rows, () => pairs++)
    return { rule, mask: rule.reduce((mask, field) => mask | (1 << field), 0), pairs: pairs * scale }
  })
  const cheap = all
    .sort((a, b) => a.pairs - b.pairs)
    .filter(({ pairs }, at) => at === 0 || pairs <= max_rule_pairs_per_row * table.rows)
    .slice(0, max_rules)
  return selectRules(cheap, estimateMatchesByMask(sample, shared, cheap, scale), table.rows)
}

/** Each field alone and each pair of fields, without those that chance alone makes too frequent. */
function listCandidateRules(chances: readonly number[], rows: number): AgreementRule[] {
  const singles = chances.map((_, field) => [field])
  const pairs = singles.flatMap(([field = 0]) => chances.slice(0, field).map((_, other) => [other, field]))
  const chanceOfRule = (rule: AgreementRule) => rule.reduce((product, field) => product * chances[field]!, 1)
  const all = [...singles, ...pairs].sort((a, b) => chanceOfRule(a) - chanceOfRule(b))
  return all.filter((rule, at) => at === 0 || (chanceOfRule(rule) * rows) / 2 <= max_rule_pairs_per_row)
}

function sampleRows({ rows, width, values }: RowTable, random: () => number): RowTable {
  const drawn = drawRows(rows, Math.ceil(Math.sqrt(sampled_pairs * rows)), random)
  const sampled = new Int32Array(drawn.length * width)
  for (const [at, row] of drawn.entries()) sampled.set(values.subarray(row * width, (row + 1) * width), at * width)
  return { rows: drawn.length, width, values: sampled }
}

/** Estimated matches among the pairs of cheap rules, by the set of fields (as bits) in which they agree. */
function estimateMatchesByMask(
  sample: RowTable,
  chances: readonly number[],
  cheap: readonly RuleEstimate[],
  scale: number,
): Map<number, number> {
  const counts = new Map<number, number>()
  const alone = chances.map((_, field) => [field])
  forEachRulePair(
    sample,
    cheap.map(({ rule }) => rule),
    sample.rows,
    (a, b) => {
      let mask = 0
      for (let field = 0; field < alone.length; field++) if (rowsAgree(sample, alone[field]!, a, b)) mask |= 1 << field
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
  let [found, brought] = [0, 0]
  for (;;) {
    let best: { of: RuleEstimate; gain: number } | undefined
    for (const of of cheap) {
      let gain = 0
      for (const [mask, count] of likely) if ((mask & of.mask) === of.mask) gain += count
      if (!best || gain > best.gain) best = { of, gain }
    }
    if (!best) return rules
    const isEnough = best.gain <= found * min_gain || brought + best.of.pairs > max_pairs_per_row * rows
    if (rules.length > 0 && isEnough) return rules
    rules.push(best.of.rule)
    found += best.gain
    brought += best.of.pairs
    for (const mask of [...likely.keys()]) if ((mask & best.of.mask) === best.of.mask) likely.delete(mask)
  }
}
