// In-memory index of the records of a registry, by lookup keys.
import { isSameRecord } from './is-same-record.ts'
import type { FieldValues, KeyExtractor } from './keys.ts'

/** Value counts of one field: records of each value, their total, and the sum of squared counts. */
class ValueCounts {
  readonly byValue = new Map<string, number>()
  total = 0
  squares = 0

  change(value: string, by: 1 | -1): void {
    const before = this.byValue.get(value) ?? 0
    const after = before + by
    if (after === 0) this.byValue.delete(value)
    else this.byValue.set(value, after)
    this.total += by
    this.squares += after * after - before * before
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

  /** `max_posting`: a key of more records finds none of them. */
  constructor({ keysOf, max_posting }: { readonly keysOf: KeyExtractor; readonly max_posting: number }) {
    this.#keysOf = keysOf
    this.#max_posting = max_posting
  }

  get size(): number {
    return this.#rowOf.size
  }

  /**
   * Adds or replaces a record. `isCounted`: whether its values count in value frequencies. Only records of the run
   * count, so that a score does not depend on later records.
   */
  put(uid: string, values: FieldValues, isCounted = true): void {
    const oldRow = this.#rowOf.get(uid)
    const before = oldRow === undefined ? undefined : this.#values[oldRow]
    if (before && oldRow !== undefined) {
      if (this.#isCounted[oldRow] === isCounted && isSameRecord(before, values)) return
      this.#values[oldRow] = undefined
      if (this.#isCounted[oldRow]) this.#count(before, -1)
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

  valuesOf(uid: string): FieldValues | undefined {
    const row = this.#rowOf.get(uid)
    return row === undefined ? undefined : this.#values[row]
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
   * Finds the records with the most shared evidence: a key of `n` records counts 1 / n for each. The uid breaks ties,
   * so that the order of insertion does not matter.
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
    const best: number[] = []
    for (const row of touched) if (this.#values[row]) this.#insert(best, row, max_candidates)
    for (const row of touched) evidence[row] = 0
    return best.map((row) => ({ uid: this.#uids[row]!, values: this.#values[row]! }))
  }

  /** Lists the keys by which two records find each other. */
  listSharedKeys(left: FieldValues, right: FieldValues): string[] {
    const keys = new Set(this.#keysOf(right))
    return this.#keysOf(left).filter((key) => keys.has(key) && (this.#rows.get(key)?.length ?? 0) <= this.#max_posting)
  }

  /** Inserts a row into the best ones, in order; without sorting all rows, of which there may be a hundred thousand. */
  #insert(best: number[], row: number, max_rows: number): void {
    const last = best.at(-1)
    if (last !== undefined && best.length === max_rows && !this.#isBefore(row, last)) return
    let [from, to] = [0, best.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#isBefore(row, best[middle]!)) to = middle
      else from = middle + 1
    }
    best.splice(from, 0, row)
    if (best.length > max_rows) best.pop()
  }

  #isBefore(row: number, other: number): boolean {
    const difference = this.#evidence[row]! - this.#evidence[other]!
    return difference > 0 || (difference === 0 && this.#uids[row]! < this.#uids[other]!)
  }

  /**
   * Computes the weight of a rare equal value: ln(sum of squared frequencies / frequency), as the run does for its
   * records.
   */
  frequencyTerm(field: string, value: string): number {
    const counts = this.#counts.get(field)
    if (!counts || counts.total === 0) return 0
    const share = (counts.byValue.get(value) ?? 0) / counts.total
    return Math.log(counts.squares / counts.total ** 2 / Math.max(share, 2 / Math.max(2, this.#counted)))
  }

  /** Returns the first `limit` distinct values of a field. */
  sample(field: string, limit: number): string[] {
    const values: string[] = []
    for (const value of this.#counts.get(field)?.byValue.keys() ?? []) {
      if (values.length === limit) break
      values.push(value)
    }
    return values
  }
}
