// Says in words how two records came to be compared, or why no rule brought them together.
import { escapeLine } from '../../../kernel/text/escape-line.ts'
import type { PairRule, RuleOutcome } from '../engine/block/pair-rules.ts'
import type { PairCandidacy } from '../engine/pair-candidacy.ts'

/**
 * `below_floor`: compared, but without enough evidence for the file of pairs. `not_listed`: texts too unlike for that file, or never
 * compared; a text similarity does not tell which.
 */
export type ComparisonState = 'compared' | 'below_floor' | 'never_compared' | 'left_out' | 'not_listed'

const outcomeTexts: Readonly<Record<RuleOutcome, string>> = {
  together: 'brings them together',
  alone_too_weak: 'shared, but by too many records to count alone',
  too_large: 'shared, but the block was left out as too large',
  different: 'differs',
  missing: 'a value is missing',
  not_near: 'not among the nearest',
}

/** Describes the comparison in one sentence. */
export function describeComparison(state: ComparisonState, { allowed, rules }: PairCandidacy): string {
  const names = nameRarestRules(rules)
  if (!allowed) return 'Never compared: the lens keeps records of one source apart (link_only).'
  if (state === 'left_out')
    return 'Left out: rules bring them together, but their texts name two variants of one thing.'
  if (state === 'not_listed') return 'Not in the file of pairs: their texts are not among the nearest, or too unlike.'
  if (state === 'never_compared') {
    const large = rules.filter(({ outcome }) => outcome === 'too_large').map(({ rule }) => rule)
    const reason = large.length > 0 ? `; blocks left out as too large: ${large.join(', ')}` : ''
    return `Never compared: no rule brings them together${reason}.`
  }
  const found =
    names.length > 0
      ? `brought together by ${names.join(', ')}`
      : 'brought together by other records of their entity, or by their texts'
  if (state === 'below_floor') return `Compared, ${found}; without enough evidence for the file of pairs.`
  return `Compared, ${found}.`
}

const max_named_rules = 3

/** Names the rules that bring the records together, those that fewest records share first. */
function nameRarestRules(rules: readonly PairRule[]): string[] {
  const together = rules
    .filter(({ outcome }) => outcome === 'together')
    .toSorted((one, other) => (one.records ?? 0) - (other.records ?? 0))
    .map(({ rule }) => rule)
  const rest = together.length - max_named_rules
  return [...together.slice(0, max_named_rules), ...(rest > 0 ? [`${rest} more`] : [])]
}

/** Lists each rule with the keys of both records, one a line. */
export function listRules(rules: readonly PairRule[]): string[] {
  return rules.map(({ rule, outcome, left, right, records, limit }) => {
    const keys = left === undefined && right === undefined ? '' : `  ${left ?? '-'} | ${right ?? '-'}`
    const size = records === undefined ? '' : `, ${records} records share it, at most ${limit} count`
    return escapeLine(`${rule}${keys} (${outcomeTexts[outcome]}${size})`)
  })
}
