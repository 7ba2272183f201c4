// Finds the rules that bring two records together, and why each other rule does not.
import { listRuleFields, normaliseBlockingRule } from '../../lens/blocking.ts'
import type { Lens } from '../../lens/model.ts'
import type { LensRecords } from '../records/records.ts'
import { decodeText } from '../text/dictionary.ts'
import { type BlockingKey, buildKeys, listKeyViews } from './keys.ts'
import { buildRulePairings, createComparisonScope } from './lens-rules.ts'
import { mayCompare, resolveColumn } from './pairing.ts'

/**
 * `together`: the rule brings the two records together. `alone_too_weak`: they share the key with so many others that it
 * counts only beside further shared keys. `too_large`: their block was left out.
 */
export type RuleOutcome = 'together' | 'alone_too_weak' | 'too_large' | 'different' | 'missing' | 'not_near'

export type PairRule = {
  readonly rule: string
  readonly outcome: RuleOutcome
  /** Keys of the two records; undefined where a value is missing, or where the rule has no keys. */
  readonly left?: string | undefined
  readonly right?: string | undefined
  /** Number of records with the shared key, and the limit of a block. */
  readonly records?: number
  readonly limit?: number
}

/** Whether the lens lets two records be compared at all. */
export function mayBeCompared(lens: Lens, records: LensRecords, a: number, b: number): boolean {
  return mayCompare(createComparisonScope(lens, records), a, b)
}

/** Explains the rules of a lens; undefined where it leaves blocking to the engine. Throws `LensFault`. */
export function explainLensRules(lens: Lens, records: LensRecords, a: number, b: number): PairRule[] | undefined {
  const pairings = buildRulePairings(lens, records)
  if (!pairings || lens.blocking === 'automatic') return undefined
  const hasField = (name: string) => records.fields.some((field) => field.name === name)
  const usable = lens.blocking.map(normaliseBlockingRule).filter((rule) => listRuleFields(rule).every(hasField))
  return usable.map((rule, at): PairRule => {
    const pairing = pairings[at]!
    const base = { rule: pairing.name, outcome: pairing.has(a, b) ? 'together' : 'not_near' } as const
    if (rule.kind === 'tfidf') return base
    const keys = (rule.kind === 'keys' ? rule.keys : rule.by).map((text) => resolveColumn(text, records.fields))
    const joinKeys = (row: number) => {
      const texts = keys.map(({ codes, dictionary }) =>
        codes[row]! < 0 ? undefined : decodeText(dictionary, codes[row]!),
      )
      return texts.includes(undefined) ? undefined : texts.join(' + ')
    }
    const [left, right] = [joinKeys(a), joinKeys(b)]
    if (rule.kind !== 'keys') return { ...base, left, right }
    if (left === undefined || right === undefined) return { ...base, outcome: 'missing', left, right }
    if (keys.some(({ codes }) => codes[a] !== codes[b])) return { ...base, outcome: 'different', left, right }
    const outcome = base.outcome === 'together' ? 'together' : 'too_large'
    return { ...base, outcome, left, right, records: countSharingRows(keys, a, records.rows), limit: lens.max_block }
  })
}

function countSharingRows(keys: readonly Pick<BlockingKey, 'codes'>[], row: number, rows: number): number {
  let count = 0
  for (let other = 0; other < rows; other++) if (keys.every(({ codes }) => codes[other] === codes[row])) count++
  return count
}

/** Explains agreement rules, which are named by their fields, as in `surname + city`. Blocks have at most `limit` records. */
export function explainAgreementRules(
  { fields, rows }: LensRecords,
  names: readonly string[],
  limit: number,
  a: number,
  b: number,
): PairRule[] {
  return names.flatMap((rule): PairRule[] => {
    const columns = rule.split(' + ').flatMap((name) => fields.find((field) => field.name === name)?.column ?? [])
    if (columns.length === 0) return []
    const readKeys = (row: number) => {
      if (columns.some(({ codes }) => codes[row]! < 0)) return undefined
      return columns.map(({ codes, dictionary }) => decodeText(dictionary, codes[row]!)).join(' + ')
    }
    const [left, right] = [readKeys(a), readKeys(b)]
    if (left === undefined || right === undefined) return [{ rule, outcome: 'missing', left, right }]
    if (columns.some(({ codes }) => codes[a] !== codes[b])) return [{ rule, outcome: 'different', left, right }]
    const records = countSharingRows(columns, a, rows)
    return [{ rule, outcome: records > limit ? 'too_large' : 'together', left, right, records, limit }]
  })
}

/**
 * Explains the keys that the engine derives from the fields: keys of small blocks add up, and keys that are too common alone
 * count together with others.
 */
export function explainKeys(
  { fields, rows }: LensRecords,
  { cap, min_evidence }: { readonly cap: number; readonly min_evidence: number },
  a: number,
  b: number,
): PairRule[] {
  const keys = fields.flatMap((field, at) => {
    const { name, type, column, names } = field
    const views = listKeyViews(type, names)
    return buildKeys(field, at).map((key, view) => {
      const textOf = (row: number) => {
        const code = column.codes[row]!
        return code < 0 ? undefined : views[view]?.[1](decodeText(column.dictionary, code)) || undefined
      }
      return { ...key, rule: `${name}: ${key.name}`, left: textOf(a), right: textOf(b) }
    })
  })
  const isShared = ({ codes }: BlockingKey) => codes[a]! >= 0 && codes[a] === codes[b]
  const sizeOf = ({ codes, sizes }: BlockingKey) => sizes[codes[a]!]!
  const shared = keys.filter(isShared)
  const common = shared.filter((key) => sizeOf(key) > cap)
  const combined = common.flatMap((key, at) =>
    common.slice(at + 1).flatMap((other) => {
      if (other.field === key.field) return []
      const records = countSharingRows([key, other], a, rows)
      return [{ rule: `${key.rule} + ${other.rule}`, left: `${key.left} + ${other.left}`, records }]
    }),
  )
  const evidence = [
    ...shared.filter((key) => sizeOf(key) <= cap).map(sizeOf),
    ...combined.map(({ records }) => records),
  ]
    .filter((size) => size <= cap)
    .reduce((sum, size) => sum + 1 / (size - 1), 0)
  const small: RuleOutcome = evidence >= min_evidence ? 'together' : 'alone_too_weak'
  return [
    ...keys.map((key): PairRule => {
      const { rule, left, right } = key
      if (left === undefined || right === undefined) return { rule, outcome: 'missing', left, right }
      if (!isShared(key)) return { rule, outcome: 'different', left, right }
      const records = sizeOf(key)
      return { rule, outcome: records > cap ? 'too_large' : small, left, right, records, limit: cap }
    }),
    ...combined.map(({ rule, left, records }): PairRule => {
      return { rule, outcome: records > cap ? 'too_large' : small, left, right: left, records, limit: cap }
    }),
  ]
}
