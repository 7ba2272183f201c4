// Writes where the rows of a dataset come from: a line for each range of rows whose places follow each other.
import { originsName } from '../../../kernel/data/landed-dataset.ts'
import { max_range_bytes, OriginRangeWriter } from '../../../kernel/data/row-origins.ts'
import type { DatasetFolder, FolderFile } from './dataset-folder.ts'

const pending_bytes = 65_536

export class OriginLog {
  readonly #folder: DatasetFolder
  readonly #name: string
  readonly #writer = new OriginRangeWriter()
  #file: FolderFile | undefined
  readonly #pending = new Uint8Array(pending_bytes)
  #length = 0
  /** The range that the next row may continue. A place of 0 is none. */
  #input = 0
  #place = 0
  #rows = 0

  /** `number`: of the log, from 1. */
  constructor(folder: DatasetFolder, number: number) {
    this.#folder = folder
    this.#name = originsName(number)
  }

  /** Adds rows of an input. `places`: that of each row; 0 for a row that comes from none. May be longer. */
  add(input: number, rows: number, places: Int32Array): void {
    for (let row = 0; row < rows; row++) {
      const place = places[row] ?? 0
      const isNext = place === 0 ? this.#place === 0 : this.#place > 0 && place === this.#place + this.#rows
      if (isNext && input === this.#input && this.#rows > 0) {
        this.#rows++
        continue
      }
      this.#endRange()
      this.#input = input
      this.#place = place
      this.#rows = 1
    }
  }

  #endRange(): void {
    if (this.#rows === 0) return
    this.#length = this.#writer.write(this.#pending, this.#length, this.#rows, this.#input, this.#place)
    this.#rows = 0
    if (this.#length > pending_bytes - max_range_bytes) this.#flush()
  }

  #flush(): void {
    this.#file ??= this.#folder.create(this.#name)
    this.#file.write(this.#pending.subarray(0, this.#length))
    this.#length = 0
  }

  /** Ends the file; undefined without rows. */
  finish() {
    this.#endRange()
    if (this.#length > 0) this.#flush()
    return this.#file?.finish()
  }
}
