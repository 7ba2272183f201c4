// Encodes texts: by a dictionary while they repeat, and as they are from the first page on whose texts are mostly new.
import type { TextColumn } from '../../../../daemon/kernel/data/data-block.ts'
import type { DataColumn } from '../../../../daemon/kernel/data/data-schema.ts'
import { countBits, writePacked } from './bit-levels.ts'
import { ByteBuffer, copyRange } from './byte-buffer.ts'
import { ChunkPages } from './chunk-pages.ts'
import { ColumnEncoder, max_page_bytes, PLAIN, RLE_DICTIONARY } from './column-encoder.ts'
import { TextDictionary } from './text-dictionary.ts'

/** The share of new texts from which a dictionary does not pay. */
const max_new_share = 0.5
/** Chunks without a dictionary before one is tried again. */
const plain_chunks = 7

export class ColumnTextEncoder extends ColumnEncoder {
  readonly #dictionary = new TextDictionary()
  readonly #plain = new ByteBuffer(1 << 16)
  /** Positions in the dictionary of the texts of the page. */
  #positions = new Int32Array(1 << 10)
  #count = 0
  /** Whether the texts of the page are in the dictionary. */
  #usesDictionary = true
  /** Whether a page refers to it. */
  #hasDictionary = false
  #sizeBefore = 0
  #chunksLeft = 0

  constructor(column: DataColumn) {
    super(column, 'BYTE_ARRAY')
  }

  protected addValues({ bytes, starts, ends }: TextColumn, from: number, to: number): number {
    let row = from
    for (; row < to && this.value_bytes < max_page_bytes; row++) {
      const start = starts[row]!
      if (start >= 0) this.#addText(bytes, start, ends[row]!)
    }
    return row
  }

  #addText(bytes: Uint8Array, start: number, end: number): void {
    if (this.#usesDictionary) {
      const position = this.#dictionary.find(bytes, start, end)
      if (position >= 0) {
        if (this.#count === this.#positions.length) this.#widen()
        this.#positions[this.#count++] = position
        return
      }
      this.#leaveDictionary()
    }
    const plain = this.#plain
    const length = end - start
    plain.reserve(length + 4)
    plain.view.setUint32(plain.length, length, true)
    copyRange(bytes, start, end, plain.bytes, plain.length + 4)
    plain.length += length + 4
  }

  #widen(): void {
    const wider = new Int32Array(this.#positions.length * 2)
    wider.set(this.#positions)
    this.#positions = wider
  }

  /** Writes the texts of this page, and of those that follow, as they are. */
  #leaveDictionary(): void {
    const { bytes } = this.#dictionary.texts
    for (let index = 0; index < this.#count; index++) {
      const [start, end] = this.#dictionary.range(this.#positions[index]!)
      this.#plain.reserve(end - start)
      copyRange(bytes, start, end, this.#plain.bytes, this.#plain.length)
      this.#plain.length += end - start
    }
    this.#count = 0
    this.#usesDictionary = false
    this.#chunksLeft = this.#hasDictionary ? 0 : plain_chunks
  }

  protected get value_bytes(): number {
    return this.#usesDictionary ? this.#count * 4 : this.#plain.length
  }

  protected writeValues(into: ByteBuffer): number {
    const added = this.#dictionary.size - this.#sizeBefore
    if (this.#usesDictionary && added > this.#count * max_new_share) this.#leaveDictionary()
    if (!this.#usesDictionary) {
      into.add(this.#plain.content())
      this.#plain.clear()
      return PLAIN
    }
    const width = countBits(Math.max(0, this.#dictionary.size - 1))
    into.addByte(width)
    writePacked(this.#positions, this.#count, width, into)
    this.#count = 0
    this.#hasDictionary = true
    this.#sizeBefore = this.#dictionary.size
    return RLE_DICTIONARY
  }

  protected override dictionaryPage(): ChunkPages | undefined {
    if (!this.#hasDictionary) return undefined
    const page = new ChunkPages()
    page.addDictionary(this.#dictionary.texts.content(), this.#dictionary.size)
    return page
  }

  protected reset(): void {
    this.#dictionary.clear()
    this.#sizeBefore = 0
    this.#hasDictionary = false
    this.#usesDictionary = this.#chunksLeft === 0
    if (this.#chunksLeft > 0) this.#chunksLeft--
  }
}
