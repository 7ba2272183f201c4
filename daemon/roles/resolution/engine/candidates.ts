// The pairs that are worth comparing: by the rules of the lens, or by all fields together where it gives none.
import { fieldsOf, type Rule, ruleOf } from '../lens/blocking.ts'
import type { Lens } from '../lens/model.ts'
import { type Blocks, blocksOf, eachPair } from './block/blocks.ts'
import { keyCount, keysOf } from './block/keys.ts'
import { nearestByWords, sortedNeighbourhood } from './block/neighbourhood.ts'
import { byKeys, type LeftOut, mayMeet, type Pairing, type Sides } from './block/pairing.ts'
import { LensFault, type Records } from './records/records.ts'
import { textsOf } from './records/texts.ts'
import { neighboursOf, trigrams, vectorsOf } from './text/vectors.ts'

/** What a rule brought together, for those who want to know before and after. */
export type RuleReport = {
  readonly rule: string
  readonly pairs: number
  readonly blocks: number
  readonly largest: number
  readonly left_out: readonly LeftOut[]
  readonly left_out_count: number
}

type Visit = (a: number, b: number) => void

const most_rows_for_neighbours = 20_000
/** Rows that are looked at for all pairs of keys: about a second. */
const most_visits = 20_000_000
const cap_of_many = 5
/** Of what the blocks of a pair say together: a shared block of nine, or more of larger ones. */
const least_said = 0.125
/** Pairs that fit into the memory of a machine. */
const most_pairs = 250_000_000

export function sidesOf({ link_only }: Lens, { rows, sources }: Records): Sides {
  return { rows, sources: link_only ? sources : undefined }
}

/** The rules of a lens on this data, none where it leaves them to the engine. Throws `LensFault`. */
export function pairingsOf(lens: Lens, records: Records): Pairing[] | undefined {
  if (lens.blocking === 'automatic') return undefined
  const sides = sidesOf(lens, records)
  const isThere = (name: string) => records.fields.some((field) => field.name === name)
  const usable = lens.blocking.map(ruleOf).filter((rule) => fieldsOf(rule).every(isThere))
  if (usable.length === 0) throw new LensFault('the data has the fields of none of the blocking rules')
  return usable.map((rule) => pairingOf(rule, lens, records, sides))
}

function pairingOf(rule: Rule, { max_block }: Lens, { fields }: Records, sides: Sides): Pairing {
  if (rule.kind === 'keys') return byKeys(rule.keys, fields, sides, max_block)
  if (rule.kind === 'sorted_neighbourhood') return sortedNeighbourhood(rule.by, rule.window, fields, sides)
  return nearestByWords(rule.fields, rule.k, fields, sides)
}

/**
 * Calls with each candidate once, `a` below `b`. `cap` and `neighbours`: rows of a block and nearest by words where the
 * lens gives no rules. Throws `LensFault` where rules make more pairs than can be kept.
 */
export function eachCandidate(
  lens: Lens,
  records: Records,
  { cap, neighbours }: { readonly cap: number; readonly neighbours: number },
  pair: Visit,
): readonly RuleReport[] {
  const pairings = pairingsOf(lens, records)
  if (!pairings) {
    const sides = sidesOf(lens, records)
    const extra = records.rows < most_rows_for_neighbours ? neighbourRows(records, neighbours) : undefined
    const visit: Visit = sides.sources ? (a, b) => mayMeet(sides, a, b) && pair(a, b) : pair
    eachPair(records.rows, blocksFor(records, cap), least_said, extra, visit)
    return []
  }
  const all = pairings.reduce((sum, { pairs }) => sum + pairs, 0)
  if (all > most_pairs) {
    const told = pairings.map(({ name, pairs }) => `${name}: ${pairs}`).join('; ')
    throw new LensFault(`the blocking rules make more than ${most_pairs} pairs (${told}); make them narrower`)
  }
  for (const [at, pairing] of pairings.entries()) {
    const earlier = pairings.slice(0, at)
    pairing.each((a, b) => {
      for (const other of earlier) if (other.has(a, b)) return
      pair(a, b)
    })
  }
  return [...pairings.map(reportOf), ...unusableOf(lens, records)]
}

export function reportOf({ name, pairs, blocks, largest, leftOut, leftOutCount }: Pairing): RuleReport {
  return { rule: name, pairs, blocks, largest, left_out: leftOut, left_out_count: leftOutCount }
}

/** Rules about fields that this data does not have. */
export function unusableOf({ blocking }: Lens, { fields }: Records): RuleReport[] {
  if (blocking === 'automatic') return []
  const missing = (rule: Rule) => fieldsOf(rule).filter((name) => !fields.some((field) => field.name === name))
  return blocking.map(ruleOf).flatMap((rule) => {
    const names = missing(rule)
    if (names.length === 0) return []
    const said = `not used, the data has no ${names.join(', ')}`
    return [{ rule: said, pairs: 0, blocks: 0, largest: 0, left_out: [], left_out_count: 0 }]
  })
}

/** Where there are many records, whole values are enough to tell most apart, and all keys of all fields too many. */
function blocksFor({ fields, rows }: Records, cap: number): Blocks {
  const counts = fields.map(({ type }) => keyCount(type))
  const all = counts.reduce((sum, count) => sum + count, 0)
  const key_pairs = (all * all - counts.reduce((sum, count) => sum + count * count, 0)) / 2
  const isNarrow = rows * key_pairs > most_visits
  const keys = fields.flatMap(({ type, column }, field) => keysOf(type, column, field, isNarrow))
  return blocksOf(keys, isNarrow ? cap_of_many : cap)
}

/** Each row's nearest, both ways: what one finds, the other is found by. */
function neighbourRows(records: Records, k: number): (row: number) => readonly number[] {
  const { found } = neighboursOf(vectorsOf(textsOf(records), trigrams), k)
  const others: number[][] = Array.from({ length: records.rows }, () => [])
  for (let row = 0; row < records.rows; row++) {
    for (const other of found.subarray(row * k, (row + 1) * k)) {
      if (other > row) others[row]!.push(other)
      else if (other >= 0) others[other]!.push(row)
    }
  }
  return (row) => others[row]!
}
