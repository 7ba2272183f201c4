// Records of a registry in memory, found by the keys that they share with one that is looked up.
import type { FieldValues, KeyExtractor } from './keys.ts'

/** Values of one field: how many records have each, all of them, and the sum of squared counts. */
class ValueCounts {
  readonly of = new Map<string, number>()
  all = 0
  squares = 0

  change(value: string, by: 1 | -1): void {
    const before = this.of.get(value) ?? 0
    const now = before + by
    if (now === 0) this.of.delete(value)
    else this.of.set(value, now)
    this.all += by
    this.squares += now * now - before * before
  }
}

export class LookupIndex {
  readonly #keysOf: KeyExtractor
  readonly #most: number
  readonly #uids: string[] = []
  readonly #values: (FieldValues | undefined)[] = []
  readonly #isCounted: boolean[] = []
  readonly #rowOf = new Map<string, number>()
  readonly #rows = new Map<string, number[]>()
  readonly #counts = new Map<string, ValueCounts>()
  #counted = 0
  #evidence = new Float64Array(1 << 10)

  /** `most`: a key that more records have finds none. */
  constructor({ keysOf, most }: { readonly keysOf: KeyExtractor; readonly most: number }) {
    this.#keysOf = keysOf
    this.#most = most
  }

  get size(): number {
    return this.#rowOf.size
  }

  /**
   * Takes a record in; one that is there already and says something else is as if it were new. `isCounted`: whether its values
   * count for how common they are. Those of the run alone do, so that a score stays as it is whatever comes after.
   */
  put(uid: string, values: FieldValues, isCounted = true): void {
    const known = this.#rowOf.get(uid)
    const before = known === undefined ? undefined : this.#values[known]
    if (before && known !== undefined) {
      if (this.#isCounted[known] === isCounted && isSameRecord(before, values)) return
      this.#values[known] = undefined
      if (this.#isCounted[known]) this.#count(before, -1)
    }
    const row = this.#uids.push(uid) - 1
    this.#values.push(values)
    this.#isCounted.push(isCounted)
    this.#rowOf.set(uid, row)
    if (isCounted) this.#count(values, 1)
    for (const key of this.#keysOf(values)) {
      const rows = this.#rows.get(key)
      if (rows) rows.push(row)
      else this.#rows.set(key, [row])
    }
  }

  #count(values: FieldValues, by: 1 | -1): void {
    this.#counted += by
    for (const [field, value] of Object.entries(values)) {
      const counts = this.#counts.get(field) ?? new ValueCounts()
      this.#counts.set(field, counts)
      counts.change(value, by)
    }
  }

  /**
   * The records that share most with this one, at most so many: a key of `n` records says 1 / n of each. Of equal ones the lower uid
   * first, so that the order in which records came changes nothing.
   */
  findCandidates(values: FieldValues, wanted: number): { readonly uid: string; readonly values: FieldValues }[] {
    if (this.#evidence.length < this.#uids.length) this.#evidence = new Float64Array(this.#uids.length * 2)
    const [said, touched] = [this.#evidence, [] as number[]]
    for (const key of this.#keysOf(values)) {
      const rows = this.#rows.get(key) ?? []
      if (rows.length > this.#most) continue
      for (const row of rows) {
        if (said[row] === 0) touched.push(row)
        said[row]! += 1 / rows.length
      }
    }
    const found = touched.flatMap((row) => {
      const of = this.#values[row]
      const each = of ? [{ uid: this.#uids[row]!, values: of, says: said[row]! }] : []
      said[row] = 0
      return each
    })
    found.sort((one, other) => other.says - one.says || (one.uid < other.uid ? -1 : 1))
    return found.slice(0, wanted)
  }

  /** What an equal value adds for being rare: ln(sum of squared frequencies / frequency), as a run has it of its records. */
  frequencyTerm(field: string, value: string): number {
    const counts = this.#counts.get(field)
    if (!counts || counts.all === 0) return 0
    const share = (counts.of.get(value) ?? 0) / counts.all
    return Math.log(counts.squares / counts.all ** 2 / Math.max(share, 2 / Math.max(2, this.#counted)))
  }

  /** Some values of a field, the first ones that came. */
  sample(field: string, most: number): string[] {
    const values: string[] = []
    for (const value of this.#counts.get(field)?.of.keys() ?? []) {
      if (values.length === most) break
      values.push(value)
    }
    return values
  }
}

/** Whether two records say the same. */
export function isSameRecord(one: FieldValues, other: FieldValues): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}
