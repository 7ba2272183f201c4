// The rows of an incremental reading that have not landed yet, and where the next reading begins.
import { createHash } from 'node:crypto'
import { max_rows_of_value, type RowPosition } from '../../../kernel/data/landed-dataset.ts'
import type { CursorValue, RowCursor, RowPlace } from '../../../shared/row-source/row-cursor.ts'
import { nameSome, RowSourceError } from '../../../shared/row-source/row-source.ts'

export class NewRows {
  readonly #column: string
  readonly #base: RowPosition | undefined
  /** Rows of the value at which the reading begins that have landed, each as often as it has. */
  readonly #landed = new Map<string, number>()
  #places: RowPlace[] = []
  /** Those of the greatest value so far. */
  #atEnd: string[]
  #isBeyond = false
  #isBetween = false
  #end: CursorValue | undefined
  known = 0

  constructor(column: string, base: RowPosition | undefined) {
    this.#column = column
    this.#base = base
    this.#atEnd = [...(base?.rows ?? [])]
    for (const digest of this.#atEnd) this.#landed.set(digest, (this.#landed.get(digest) ?? 0) + 1)
  }

  /** For the request to the source. */
  cursor(): RowCursor {
    return {
      ...{ column: this.#column, ...(this.#base && { from: this.#base }) },
      onRow: (place) => void this.#places.push(place),
      onEnd: (end) => {
        this.#end = end
      },
    }
  }

  /** The rows of a block that are new. Throws `RowSourceError` where more rows have one value than a cursor remembers. */
  take(block: readonly string[]): readonly string[] {
    const places = this.#places
    this.#places = []
    if (places.length !== block.length) throw new Error('a source gave the places of other rows')
    return block.filter((line, at) => this.#isNew(line, places[at]))
  }

  #isNew(line: string, place: RowPlace | undefined): boolean {
    if (place === 'between') {
      this.#isBetween = true
      return true
    }
    const digest = digestRow(line)
    if (place === 'start') {
      if (this.#skip(digest)) return false
      if (!this.#isBeyond) this.#remember(digest)
      return true
    }
    if (place === 'new_end' || !this.#isBeyond) this.#atEnd = []
    this.#isBeyond = true
    this.#remember(digest)
    return true
  }

  #skip(digest: string): boolean {
    const left = this.#landed.get(digest) ?? 0
    if (left === 0) return false
    this.#landed.set(digest, left - 1)
    this.known += 1
    return true
  }

  #remember(digest: string): void {
    if (this.#atEnd.length >= max_rows_of_value)
      throw new RowSourceError(
        `more than ${max_rows_of_value} rows have the greatest value of the cursor column ${nameSome([this.#column])}: choose a column with finer values`,
      )
    this.#atEnd.push(digest)
  }

  /** Where the next reading begins, once all rows were taken; undefined where there has been none yet. */
  position(): RowPosition | undefined {
    if (this.#end === undefined) return this.#base
    // The source found no row of what it says is the greatest value: the next reading could not either.
    if (this.#atEnd.length === 0 || (this.#isBetween && !this.#isBeyond))
      throw new RowSourceError(`the values of the cursor column ${nameSome([this.#column])} cannot be compared`)
    const { type, value } = this.#end
    return { column: this.#column, type, value, rows: this.#atEnd }
  }
}

/** 132 bits. */
function digestRow(line: string): string {
  return createHash('sha256').update(line).digest('base64url').slice(0, 22)
}
