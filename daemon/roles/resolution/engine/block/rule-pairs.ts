// Candidates for many records: sorted hashes make rows adjacent that agree in all fields of a rule.
import type { RowTable } from '../compare/row-table.ts'
import { SortedHashes } from './sorted-hashes.ts'

/** Field numbers of a rule: rows that agree in all of them are compared. */
export type AgreementRule = readonly number[]

/** Limited by the bits of a 32-bit mask. */
export const max_rules = 31

/** Pairs are buffered and passed on in batches, while their rows are still in the processor's cache. */
const max_buffered_pairs = 1 << 10

/**
 * Calls `pair` once with each pair of a rule, `a` below `b`, and the 1-based number of the first rule that produces it. Blocks of more than
 * `cap` rows are skipped. `passed` is called often, with the number of rows processed, each row counted once per rule.
 */
export function forEachRulePair(
  table: RowTable,
  rules: readonly AgreementRule[],
  cap: number,
  pair: (a: number, b: number, rule: number) => void,
  passed: (done: number) => void = () => {},
): void {
  if (rules.length > max_rules)
    throw new RangeError(`there are ${rules.length} rules, and at most ${max_rules} are allowed`)
  const sorted = new SortedHashes(table.rows)
  const buffered = new Int32Array(2 * max_buffered_pairs)
  /** For each row, a bit set of the rules whose oversized blocks contain it. */
  const oversizedRules = new Int32Array(table.rows)
  for (const [number, rule] of rules.entries()) {
    const earlier = rules.slice(0, number)
    let length = 0
    addHashes(table, rule, sorted)
    sorted.sort()
    sorted.forEachRun((rows, from, to) => {
      passed(number * table.rows + from)
      if (to - from > cap) {
        for (let at = from; at < to; at++) oversizedRules[rows[at]!]! |= 1 << number
        return
      }
      for (let at = from; at < to; at++) {
        const a = rows[at]!
        for (let other = at + 1; other < to; other++) {
          const b = rows[other]!
          if (!rowsAgree(table, rule, a, b) || !isNewPair(table, earlier, oversizedRules[a]!, a, b)) continue
          buffered[length++] = a
          buffered[length++] = b
          if (length === buffered.length) length = flushPairs(buffered, length, number + 1, pair)
        }
      }
    })
    flushPairs(buffered, length, number + 1, pair)
    passed((number + 1) * table.rows)
  }
}

/** Passes on all buffered pairs; returns the new length, 0. */
function flushPairs(
  buffered: Int32Array,
  length: number,
  rule: number,
  pair: (a: number, b: number, rule: number) => void,
): number {
  for (let at = 0; at < length; at += 2) pair(buffered[at]!, buffered[at + 1]!, rule)
  return 0
}

/** Whether no earlier rule produces this pair. */
function isNewPair(
  table: RowTable,
  earlier: readonly AgreementRule[],
  oversizedRules: number,
  a: number,
  b: number,
): boolean {
  for (let at = 0; at < earlier.length; at++) {
    if (((oversizedRules >>> at) & 1) === 0 && rowsAgree(table, earlier[at]!, a, b)) return false
  }
  return true
}

/** Whether both rows have the same value in each field. */
export function rowsAgree({ width, values }: RowTable, rule: AgreementRule, a: number, b: number): boolean {
  for (let at = 0; at < rule.length; at++) {
    const value = values[a * width + rule[at]!]!
    if (value < 0 || value !== values[b * width + rule[at]!]!) return false
  }
  return true
}

/** Adds the hash of each row; rows with a missing value are skipped. */
function addHashes({ rows, width, values }: RowTable, rule: AgreementRule, sorted: SortedHashes): void {
  sorted.clear()
  for (let row = 0; row < rows; row++) {
    let hash = 0
    let at = 0
    for (; at < rule.length; at++) {
      const value = values[row * width + rule[at]!]!
      if (value < 0) break
      hash = Math.imul(hash ^ value, 0x85ebca6b)
      hash = Math.imul(hash ^ (hash >>> 15), 0x9e3779b1)
    }
    if (at === rule.length) sorted.add(row, hash)
  }
}
