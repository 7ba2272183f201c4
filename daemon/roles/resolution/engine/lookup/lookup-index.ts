// In-memory index of the records of a registry, by lookup keys: a few hundred bytes for each record, outside the heap.
import { KeyPostings } from './key-postings.ts'
import type { FieldValues, KeyExtractor } from './keys.ts'
import { LookupField } from './lookup-field.ts'
import { grown, TextTable } from './text-table.ts'

const absent = 0
const present = 1
/** Present, and its values count in value frequencies. */
const counted = 2

export class LookupIndex {
  readonly #keysOf: KeyExtractor
  readonly #max_posting: number
  /** The number of a uid is its row, and stays it. */
  readonly #uids = new TextTable()
  #states = new Uint8Array(0)
  readonly #fields = new Map<string, LookupField>()
  readonly #postings = new KeyPostings()
  #size = 0
  #counted = 0
  #evidence = new Float64Array(0)
  #shared = new Int32Array(64)

  /** `max_posting`: a key of more records finds none of them. */
  constructor({ keysOf, max_posting }: { readonly keysOf: KeyExtractor; readonly max_posting: number }) {
    this.#keysOf = keysOf
    this.#max_posting = max_posting
  }

  get size(): number {
    return this.#size
  }

  /** Memory that the index takes. */
  get bytes(): number {
    const own = this.#states.byteLength + this.#evidence.byteLength + this.#shared.byteLength
    let sum = own + this.#uids.bytes + this.#postings.bytes
    for (const field of this.#fields.values()) sum += field.bytes
    return sum
  }

  /**
   * Adds or replaces a record. `isCounted`: whether its values count in value frequencies. Only records of the run
   * count, so that a score does not depend on later records.
   */
  put(uid: string, values: FieldValues, isCounted = true): void {
    const row = this.#uids.add(uid)
    if (row >= this.#states.length) this.#states = grown(this.#states, row + 1)
    const state = isCounted ? counted : present
    if (this.#states[row] === state && this.#hasValues(row, values)) return
    this.#clear(row)
    this.#states[row] = state
    this.#size++
    for (const [name, value] of Object.entries(values)) {
      const field = this.#addField(name)
      const code = field.texts.add(value)
      field.set(row, code)
      if (isCounted) field.count(code, 1)
    }
    if (isCounted) this.#counted++
    for (const key of this.#keysOf(values)) this.#postings.add(key, row)
  }

  remove(uid: string): void {
    const row = this.#uids.find(uid)
    if (row >= 0) this.#clear(row)
  }

  valuesOf(uid: string): FieldValues | undefined {
    const row = this.#uids.find(uid)
    return row < 0 || this.#states[row] === absent ? undefined : this.#valuesOfRow(row)
  }

  /** Rows in use, those of removed records included. */
  get rows(): number {
    return this.#uids.size
  }

  fieldOf(name: string): LookupField | undefined {
    return this.#fields.get(name)
  }

  /** Whether the row has a record. */
  isPresent(row: number): boolean {
    return this.#states[row] !== absent
  }

  uidOf(row: number): string {
    return this.#uids.textOf(row)
  }

  /** Whether the uid of a row is before that of another. */
  isUidBefore(row: number, other: number): boolean {
    return this.#uids.isBefore(row, other)
  }

  #clear(row: number): void {
    if (this.#states[row] === absent) return
    for (const key of this.#keysOf(this.#valuesOfRow(row))) this.#postings.remove(key, row)
    const isCounted = this.#states[row] === counted
    for (const field of this.#fields.values()) {
      const code = field.codeOf(row)
      if (code < 0) continue
      if (isCounted) field.count(code, -1)
      field.set(row, -1)
    }
    if (isCounted) this.#counted--
    this.#states[row] = absent
    this.#size--
  }

  #addField(name: string): LookupField {
    const known = this.#fields.get(name)
    if (known) return known
    const field = new LookupField()
    this.#fields.set(name, field)
    return field
  }

  #hasValues(row: number, values: FieldValues): boolean {
    for (const [name, field] of this.#fields) {
      const [code, value] = [field.codeOf(row), values[name]]
      if (value === undefined ? code >= 0 : code < 0 || code !== field.texts.find(value)) return false
    }
    return Object.keys(values).every((name) => this.#fields.has(name))
  }

  #valuesOfRow(row: number): FieldValues {
    const values: Record<string, string> = {}
    for (const [name, field] of this.#fields) {
      const code = field.codeOf(row)
      if (code >= 0) values[name] = field.texts.textOf(code)
    }
    return values
  }

  /**
   * Finds the records with the most shared evidence: a key of `n` records counts 1 / n for each. The uid breaks ties,
   * so that the order of insertion does not matter.
   */
  findCandidates(
    values: FieldValues,
    max_candidates: number,
  ): { readonly uid: string; readonly values: FieldValues }[] {
    const { size } = this.#uids
    if (this.#evidence.length < size) this.#evidence = new Float64Array(Math.ceil(size * 1.5))
    if (this.#shared.length < this.#max_posting) this.#shared = new Int32Array(this.#max_posting)
    const [evidence, shared, touched] = [this.#evidence, this.#shared, [] as number[]]
    for (const key of this.#keysOf(values)) {
      const count = this.#postings.read(key, shared, this.#max_posting)
      for (let at = 0; at < count; at++) {
        const row = shared[at]!
        if (evidence[row] === 0) touched.push(row)
        evidence[row]! += 1 / count
      }
    }
    const best: number[] = []
    for (const row of touched) this.#insert(best, row, max_candidates)
    for (const row of touched) evidence[row] = 0
    return best.map((row) => ({ uid: this.#uids.textOf(row), values: this.#valuesOfRow(row) }))
  }

  /** Lists the keys by which two records find each other. */
  listSharedKeys(left: FieldValues, right: FieldValues): string[] {
    const keys = new Set(this.#keysOf(right))
    return this.#keysOf(left).filter((key) => keys.has(key) && this.#postings.count(key) <= this.#max_posting)
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
    return difference > 0 || (difference === 0 && this.#uids.isBefore(row, other))
  }

  /**
   * Computes the weight of a rare equal value: ln(sum of squared frequencies / frequency), as the run does for its
   * records.
   */
  frequencyTerm(field: string, value: string): number {
    const index = this.#fields.get(field)
    if (!index || index.total === 0) return 0
    const share = index.countOf(index.texts.find(value)) / index.total
    return Math.log(index.squares / index.total ** 2 / Math.max(share, 2 / Math.max(2, this.#counted)))
  }

  /** Returns the first `limit` distinct values of a field that count. */
  sample(field: string, limit: number): string[] {
    const index = this.#fields.get(field)
    const values: string[] = []
    for (let code = 0; code < (index?.texts.size ?? 0) && values.length < limit; code++)
      if (index && index.countOf(code) > 0) values.push(index.texts.textOf(code))
    return values
  }
}
