// The golden record of an entity: for each field the value that survives by the rule of the lens, and the record that it is from.
import type { RecordRef } from '../fields.ts'
import type { LensField, SurvivorshipRule } from '../lens/field.ts'
import { recordKey } from '../registry/record-key.ts'

export type GoldenRules = {
  readonly fields: readonly Pick<LensField, 'name' | 'survivorship'>[]
  readonly source_order?: readonly string[] | undefined
}

export type GoldenMember = {
  readonly ref: RecordRef
  readonly values: Readonly<Record<string, string>>
  /** When the values were received; texts or numbers that sort by time. Absent: before all others. */
  readonly at?: string | undefined
}

export type SurvivingValue = {
  readonly field: string
  readonly value: string
  readonly rule: SurvivorshipRule
  /** The first record with the value, in the order of sources and records. */
  readonly record: RecordRef
  /** Records with the value, and records with any value. */
  readonly records: number
  readonly of: number
}

/** A value of a field with what the rules compare. */
type ValueClaim = {
  readonly value: string
  count: number
  first: RecordRef
  newest: string
  oldest: string
}

/** Collects members one by one, and holds their distinct values only. */
export class GoldenRecordBuilder {
  readonly #rules: GoldenRules
  readonly #claims: readonly Map<string, ValueClaim>[]

  constructor(rules: GoldenRules) {
    this.#rules = rules
    this.#claims = rules.fields.map(() => new Map())
  }

  add({ ref, values, at = '' }: GoldenMember): void {
    for (const [index, { name }] of this.#rules.fields.entries()) {
      const value = values[name]
      if (value === undefined || value === '') continue
      const claims = this.#claims[index]
      const claim = claims?.get(value)
      if (!claim) {
        claims?.set(value, { value, count: 1, first: ref, newest: at, oldest: at })
        continue
      }
      claim.count++
      if (this.#compareRefs(ref, claim.first) < 0) claim.first = ref
      if (at > claim.newest) claim.newest = at
      if (at < claim.oldest) claim.oldest = at
    }
  }

  /**
   * The surviving value of each field that has one, in the order of the lens. The order of the members has no influence.
   * `pause` lets other work continue between the fields.
   */
  async build(pause: () => Promise<void>): Promise<SurvivingValue[]> {
    const survivors: SurvivingValue[] = []
    for (const survivor of this.survivors()) {
      await pause()
      if (survivor) survivors.push(survivor)
    }
    return survivors
  }

  /** The same one by one, undefined for a field without a value. */
  *survivors(): Generator<SurvivingValue | undefined> {
    for (const [index, { name, survivorship: rule = 'most_frequent' }] of this.#rules.fields.entries())
      yield this.#findSurvivor(name, rule, this.#claims[index]?.values() ?? [])
  }

  #findSurvivor(field: string, rule: SurvivorshipRule, claims: Iterable<ValueClaim>): SurvivingValue | undefined {
    let best: ValueClaim | undefined
    let of = 0
    for (const claim of claims) {
      of += claim.count
      if (!best || (this.#compareBy(rule, claim, best) || this.#compareByDefault(claim, best)) < 0) best = claim
    }
    return best && { field, value: best.value, rule, record: best.first, records: best.count, of }
  }

  #compareBy(rule: SurvivorshipRule, a: ValueClaim, b: ValueClaim): number {
    switch (rule) {
      case 'longest':
        return b.value.length - a.value.length
      case 'newest':
        return compareTexts(b.newest, a.newest)
      case 'oldest':
        return compareTexts(a.oldest, b.oldest)
      case 'first_source':
        return this.#compareSources(a.first.node_id, b.first.node_id)
      case 'most_frequent':
        return 0
    }
  }

  #compareByDefault(a: ValueClaim, b: ValueClaim): number {
    return b.count - a.count || b.value.length - a.value.length || this.#compareRefs(a.first, b.first)
  }

  #compareRefs(a: RecordRef, b: RecordRef): number {
    return this.#compareSources(a.node_id, b.node_id) || compareTexts(recordKey(a), recordKey(b))
  }

  #compareSources(a: string, b: string): number {
    return this.#rankOf(a) - this.#rankOf(b) || compareTexts(a, b)
  }

  #rankOf(source: string): number {
    const { source_order = [] } = this.#rules
    const rank = source_order.indexOf(source)
    return rank < 0 ? source_order.length : rank
  }
}

/** By code units, independent of the locale of the machine. */
function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
