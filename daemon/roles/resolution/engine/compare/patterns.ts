// Patterns of outcomes of compared pairs: the pattern number of each pair, and the frequency of each pattern.
import { max_batch_pairs, type PairComparer, type PairOutcomes } from './pair-comparer.ts'

/** A histogram of patterns. `patterns` has `fields` outcomes for each pattern in sequence. */
export type PatternHistogram = { readonly fields: number; readonly patterns: Uint8Array; readonly counts: Float64Array }

/** Compared pairs in order of insertion. */
export type ComparedPairs = PatternHistogram & {
  readonly length: number
  readonly lefts: Int32Array
  readonly rights: Int32Array
  readonly patternOf: Int32Array
  /** Number of the rule that found each pair; 0 for a pair that no rule found. */
  readonly ruleOf: Uint16Array
}

/** Compared pairs with the rarity of the values that both rows share, in natural logs. */
export type RatedPairs = ComparedPairs & { readonly rarity: Float64Array }

/** Numbers patterns of outcomes: an open-addressing hash table keyed by the outcomes as one integer. */
class PatternTable {
  readonly #fields: number
  readonly #factors: readonly number[]
  #keys = new Float64Array(1 << 12).fill(-1)
  #numbers = new Int32Array(1 << 12)
  #outcomes = new Uint8Array(1 << 12)
  #counts = new Float64Array(1 << 8)
  #size = 0

  constructor({ outcomes }: Pick<PairComparer, 'outcomes'>) {
    this.#fields = outcomes.length
    let product = 1
    this.#factors = outcomes.map((count) => {
      const factor = product
      product *= count
      return factor
    })
    if (product > Number.MAX_SAFE_INTEGER)
      throw new RangeError('the fields have too many combinations of outcomes: remove fields or levels')
  }

  /** Computes the key of a pair's outcomes. */
  #keyOf({ room, values }: PairOutcomes, pair: number): number {
    let key = 0
    for (let field = 0; field < this.#fields; field++) key += values[field * room + pair]! * this.#factors[field]!
    return key
  }

  /** Writes the pattern numbers of `pairs` pairs to `into`, starting at `from`. */
  count(outcomes: PairOutcomes, pairs: number, into: Int32Array, from: number): void {
    for (let pair = 0; pair < pairs; pair++)
      into[from + pair] = this.#count(this.#keyOf(outcomes, pair), outcomes, pair)
  }

  #count(key: number, outcomes: PairOutcomes, pair: number): number {
    const mask = this.#keys.length - 1
    let at = (Math.imul(key | 0, 0x9e3779b1) ^ Math.imul((key / 4_294_967_296) | 0, 0x85ebca6b)) >>> 7
    for (at &= mask; this.#keys[at] !== key; at = (at + 1) & mask) {
      if (this.#keys[at] === -1) return this.#add(key, at, outcomes, pair)
    }
    const number = this.#numbers[at]!
    this.#counts[number]!++
    return number
  }

  /** Takes back one pair of a pattern. */
  discount(pattern: number): void {
    this.#counts[pattern]!--
  }

  #add(key: number, at: number, { room, values }: PairOutcomes, pair: number): number {
    const number = this.#size++
    if (number === this.#counts.length) this.#counts = doubleCapacity(this.#counts)
    if (this.#size * this.#fields > this.#outcomes.length) this.#outcomes = doubleCapacity(this.#outcomes)
    this.#keys[at] = key
    this.#numbers[at] = number
    this.#counts[number] = 1
    for (let field = 0; field < this.#fields; field++) {
      this.#outcomes[number * this.#fields + field] = values[field * room + pair]!
    }
    if (number * 2 > this.#keys.length) this.#widen()
    return number
  }

  /** Returns the histogram of all patterns so far. */
  histogram(): PatternHistogram {
    return {
      fields: this.#fields,
      patterns: this.#outcomes.slice(0, this.#size * this.#fields),
      counts: this.#counts.slice(0, this.#size),
    }
  }

  #widen(): void {
    const [keys, numbers] = [this.#keys, this.#numbers]
    this.#keys = new Float64Array(keys.length * 4).fill(-1)
    this.#numbers = new Int32Array(keys.length * 4)
    const mask = this.#keys.length - 1
    for (let old = 0; old < keys.length; old++) {
      const key = keys[old]!
      if (key === -1) continue
      let at = (Math.imul(key | 0, 0x9e3779b1) ^ Math.imul((key / 4_294_967_296) | 0, 0x85ebca6b)) >>> 7
      for (at &= mask; this.#keys[at] !== -1; ) at = (at + 1) & mask
      this.#keys[at] = key
      this.#numbers[at] = numbers[old]!
    }
  }
}

/** Collects pairs and compares them in batches. */
export class PairList {
  #lefts = new Int32Array(1 << 14)
  #rights = new Int32Array(1 << 14)
  #patternOf = new Int32Array(1 << 14)
  #ruleOf = new Uint16Array(1 << 14)
  #rarity = new Float64Array(1 << 14)
  #length = 0
  #compared = 0
  readonly #comparer: PairComparer
  readonly #table: PatternTable

  constructor(comparer: PairComparer) {
    this.#comparer = comparer
    this.#table = new PatternTable(comparer)
  }

  get length(): number {
    return this.#length
  }

  add(a: number, b: number, rule = 0): void {
    if (this.#length === this.#lefts.length) this.#widen()
    this.#ruleOf[this.#length] = rule
    this.#lefts[this.#length] = a
    this.#rights[this.#length++] = b
    if (this.#length - this.#compared === max_batch_pairs) this.#compare()
  }

  #compare(): void {
    const [from, to] = [this.#compared, this.#length]
    const outcomes = this.#comparer.compare(this.#lefts, this.#rights, from, to)
    this.#table.count(outcomes, to - from, this.#patternOf, from)
    this.#rarity.set(outcomes.rarity.subarray(0, to - from), from)
    this.#compared = to
  }

  /** Compares all pairs so far and returns them. Call it again after adding pairs. */
  compared(): RatedPairs {
    if (this.#compared < this.#length) this.#compare()
    return {
      length: this.#length,
      lefts: this.#lefts.subarray(0, this.#length),
      rights: this.#rights.subarray(0, this.#length),
      patternOf: this.#patternOf.subarray(0, this.#length),
      ruleOf: this.#ruleOf.subarray(0, this.#length),
      rarity: this.#rarity.subarray(0, this.#length),
      ...this.#table.histogram(),
    }
  }

  /** Removes the pairs that are not kept; the others keep their order. */
  retain(isKept: (a: number, b: number) => boolean): void {
    if (this.#compared < this.#length) this.#compare()
    let to = 0
    for (let pair = 0; pair < this.#length; pair++) {
      if (!isKept(this.#lefts[pair]!, this.#rights[pair]!)) {
        this.#table.discount(this.#patternOf[pair]!)
        continue
      }
      this.#lefts[to] = this.#lefts[pair]!
      this.#rights[to] = this.#rights[pair]!
      this.#patternOf[to] = this.#patternOf[pair]!
      this.#ruleOf[to] = this.#ruleOf[pair]!
      this.#rarity[to] = this.#rarity[pair]!
      to++
    }
    this.#length = to
    this.#compared = to
  }

  #widen(): void {
    this.#lefts = doubleCapacity(this.#lefts)
    this.#rights = doubleCapacity(this.#rights)
    this.#patternOf = doubleCapacity(this.#patternOf)
    this.#ruleOf = doubleCapacity(this.#ruleOf)
    this.#rarity = doubleCapacity(this.#rarity)
  }
}

/** Returns a copy with twice the capacity. */
function doubleCapacity<T extends Int32Array | Float64Array | Uint8Array | Uint16Array>(values: T): T {
  const copy = new (values.constructor as new (length: number) => T)(values.length * 2)
  copy.set(values)
  return copy
}

const random_pair_count = 25_000

/** Draws pairs uniformly from all pairs of rows. */
export function drawPairs(comparer: PairComparer, rows: number, random: () => number): ComparedPairs {
  const list = new PairList(comparer)
  for (let at = 0; at < random_pair_count; at++) {
    const a = Math.floor(random() * rows)
    const b = Math.floor(random() * rows)
    if (a !== b) list.add(a, b)
  }
  return list.compared()
}
