// Texts of a workbook: of one or two bytes a character, over as many records as they need.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { type BiffRecord, type BiffRecords, recordTypes } from './biff-records.ts'

/** Decodes bytes of a code page. */
export type ByteDecoder = { decode(bytes: Uint8Array): string }

const [isWide, hasPhonetics, hasRuns] = [1, 4, 8]
/** Texts of the table of all together, in characters, as of .xlsx in bytes. */
const max_shared_characters = 536_870_912
const piece_characters = 4_096

/** Reads a record and those that continue it. */
export class TextCursor {
  readonly #records: BiffRecords
  #data: DataView
  #at: number

  constructor(records: BiffRecords, { data }: BiffRecord, at: number) {
    this.#records = records
    this.#data = data
    this.#at = at
  }

  #continue(): void {
    if (this.#records.peek() !== recordTypes.continue) throw new DataFault('damaged: a text ends too early')
    this.#data = this.#records.next().data
    this.#at = 0
  }

  /** Returns the position of so many bytes in the record that has them, which may be the next one. */
  #reserve(bytes: number): number {
    while (this.#at === this.#data.byteLength) this.#continue()
    const at = this.#at
    if (at + bytes > this.#data.byteLength) throw new DataFault('damaged: a number lies in two records')
    this.#at += bytes
    return at
  }

  byte(): number {
    const at = this.#reserve(1)
    return this.#data.getUint8(at)
  }

  short(): number {
    const at = this.#reserve(2)
    return this.#data.getUint16(at, true)
  }

  int(): number {
    const at = this.#reserve(4)
    return this.#data.getUint32(at, true)
  }

  skip(bytes: number): void {
    for (let rest = bytes; rest > 0; ) {
      if (this.#at === this.#data.byteLength) this.#continue()
      const step = Math.min(rest, this.#data.byteLength - this.#at)
      this.#at += step
      rest -= step
    }
  }

  /** A text of so many characters, which begins with its flags. Runs of formats and readings of ideograms are left out. */
  text(characters: number): string {
    let flags = this.byte()
    const runs = flags & hasRuns ? this.short() : 0
    const phonetic_bytes = flags & hasPhonetics ? this.int() : 0
    let text = ''
    for (let rest = characters; rest > 0; ) {
      if (this.#at === this.#data.byteLength) {
        this.#continue()
        // The rest of a text begins with flags of its own, whose width alone counts.
        flags = this.byte()
      }
      const width = flags & isWide ? 2 : 1
      const count = Math.min(rest, Math.floor((this.#data.byteLength - this.#at) / width))
      if (count === 0) throw new DataFault('damaged: a character lies in two records')
      text += decodeCharacters(this.#data, this.#at, count, width)
      this.#at += count * width
      rest -= count
    }
    this.skip(runs * 4 + phonetic_bytes)
    return text
  }

  /** The only text of a record: programs leave the flags of an empty one out. */
  onlyText(characters: number): string {
    return characters === 0 ? '' : this.text(characters)
  }

  /** A text of one byte a character, of a workbook before Excel 97. */
  bytes(count: number, decoder: ByteDecoder): string {
    if (count === 0) return ''
    const at = this.#reserve(count)
    return decoder.decode(new Uint8Array(this.#data.buffer, this.#data.byteOffset + at, count))
  }
}

function decodeCharacters(data: DataView, start: number, count: number, width: number): string {
  let text = ''
  for (let done = 0; done < count; done += piece_characters) {
    const codes: number[] = []
    const end = Math.min(count, done + piece_characters)
    for (let at = done; at < end; at++)
      codes.push(width === 2 ? data.getUint16(start + at * 2, true) : data.getUint8(start + at))
    text += String.fromCharCode(...codes)
  }
  return text
}

/** The texts that cells refer to by number. Nothing is reserved for the count that the table claims. */
export function readSharedTexts(records: BiffRecords, record: BiffRecord): string[] {
  const cursor = new TextCursor(records, record, 0)
  cursor.skip(4)
  const count = cursor.int()
  const texts: string[] = []
  let characters = 0
  while (texts.length < count) {
    const text = cursor.text(cursor.short())
    characters += text.length
    if (characters > max_shared_characters)
      throw new DataFault(`shared texts of more than ${max_shared_characters} characters`)
    texts.push(text)
  }
  return texts
}
