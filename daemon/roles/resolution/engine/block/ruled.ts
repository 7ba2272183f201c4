// The pairs that are worth comparing by the rules of a lens: each once, under the first rule that brings it together.
import { fieldsOf, type Rule, ruleOf } from '../../lens/blocking.ts'
import type { Lens } from '../../lens/model.ts'
import { portions, type Tell } from '../progress.ts'
import { LensFault, type Records } from '../records/records.ts'
import { nearestByWords, sortedNeighbourhood } from './neighbourhood.ts'
import { byKeys, type LeftOut, type Pairing, type Sides } from './pairing.ts'

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
 * Calls with each pair that a rule of the lens names, once, `a` below `b`; undefined where the lens leaves that to the engine.
 * Throws `LensFault` where rules make more pairs than can be kept.
 */
export function eachRuled(lens: Lens, records: Records, tell: Tell, pair: Visit): readonly RuleReport[] | undefined {
  const pairings = pairingsOf(lens, records)
  if (!pairings) return undefined
  const all = pairings.reduce((sum, { pairs }) => sum + pairs, 0)
  if (all > most_pairs) {
    const told = pairings.map(({ name, pairs }) => `${name}: ${pairs}`).join('; ')
    throw new LensFault(`the blocking rules make more than ${most_pairs} pairs (${told}); make them narrower`)
  }
  const looked = portions(tell, 'compare', all)
  let count = 0
  for (const [at, pairing] of pairings.entries()) {
    const earlier = pairings.slice(0, at)
    pairing.each((a, b) => {
      looked(count++)
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
