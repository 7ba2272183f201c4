// Index in memory of the records of a registry, by the keys that they share with a looked-up record.
import type { FieldValues, KeyExtractor } from './keys.ts'

/** Value counts of one field: records per value, their total, and the sum of squared counts. */
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
  readonly #max_posting: number
  readonly #uids: string[] = []
  readonly #values: (FieldValues | undefined)[] = []
  readonly #isCounted: boolean[] = []
  readonly #rowOf = new Map<string, number>()
  readonly #rows = new Map<string, number[]>()
  readonly #counts = new Map<string, ValueCounts>()
  #counted = 0
  #evidence = new Float64Array(1 << 10)

  /** A key with more than `max_posting` records finds none of them. */
  constructor({ keysOf, max_posting }: { readonly keysOf: KeyExtractor; readonly max_posting: number }) {
    this.#keysOf = keysOf
    this.#max_posting = max_posting
  }

  get size(): number {
    return this.#rowOf.size
  }

  /**
   * Adds or replaces a record. `isCounted`: whether its values count towards value frequencies. Only records of the run
   * do, so that a score does not depend on later records.
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
   * The records with the most shared evidence: a key of `n` records counts 1 / n for each. Ties are broken by uid, so
   * that the order of insertion does not matter.
   */
  findCandidates(
    values: FieldValues,
    max_candidates: number,
  ): { readonly uid: string; readonly values: FieldValues }[] {
    if (this.#evidence.length < this.#uids.length) this.#evidence = new Float64Array(this.#uids.length * 2)
    const [evidence, touched] = [this.#evidence, [] as number[]]
    for (const key of this.#keysOf(values)) {
      const rows = this.#rows.get(key) ?? []
      if (rows.length > this.#max_posting) continue
      for (const row of rows) {
        if (evidence[row] === 0) touched.push(row)
        evidence[row]! += 1 / rows.length
      }
    }
    const found = touched.flatMap((row) => {
      const of = this.#values[row]
      const each = of ? [{ uid: this.#uids[row]!, values: of, shared: evidence[row]! }] : []
      evidence[row] = 0
      return each
    })
    found.sort((one, other) => other.shared - one.shared || (one.uid < other.uid ? -1 : 1))
    return found.slice(0, max_candidates)
  }

  /**
   * Weight of a rare equal value: ln(sum of squared frequencies / frequency), as the run computes it for its records.
   */
  frequencyTerm(field: string, value: string): number {
    const counts = this.#counts.get(field)
    if (!counts || counts.all === 0) return 0
    const share = (counts.of.get(value) ?? 0) / counts.all
    return Math.log(counts.squares / counts.all ** 2 / Math.max(share, 2 / Math.max(2, this.#counted)))
  }

  /** The first `limit` distinct values of a field. */
  sample(field: string, limit: number): string[] {
    const values: string[] = []
    for (const value of this.#counts.get(field)?.of.keys() ?? []) {
      if (values.length === limit) break
      values.push(value)
    }
    return values
  }
}

/** Whether two records have the same values. */
export function isSameRecord(one: FieldValues, other: FieldValues): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}
