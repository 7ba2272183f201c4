// Measures how well a dialect of CSV fits the beginning of a text: whether its records have as many fields as the first one.
import { type CsvDialect, markByte } from '../../../daemon/kernel/data/csv-dialect.ts'
import { findLineEnd } from './line-end.ts'
import { faulty, incomplete, RecordScanner } from './record-scanner.ts'

export type DialectFit = {
  readonly dialect: CsvDialect
  /** Fields of the first record. */
  readonly width: number
  readonly names: readonly string[]
  /** Records after the first one that have its number of fields, as a share of them; 1 if there are none. */
  readonly share: number
  /** Records whose quotation marks are not as the dialect has them. */
  readonly faults: number
  /** Whether a value begins with a quotation mark. */
  readonly hasQuotes: boolean
  /** The number of fields of all records after the first one; 0 where they differ. */
  readonly common_width: number
  /** Whether every value of a field begins and ends with an apostrophe, its name too. */
  readonly hasApostrophes: boolean
}

/** Records that are measured at most. */
const max_records = 2_000
const apostrophe = 39

/** `text`: the beginning of a file in UTF-8. `isWhole`: whether it is all of the file, so that its last record is complete. */
export function measureDialect(text: Uint8Array, isWhole: boolean, dialect: CsvDialect): DialectFit {
  const lineEnd = findLineEnd(text, dialect)
  const bytes = closeText(text, lineEnd, isWhole)
  const scanner = new RecordScanner(dialect)
  const shape = new RecordShape(dialect)
  for (let at = 0; at < bytes.length && shape.records < max_records; ) {
    const next = scanner.scan(bytes, at, bytes.length, lineEnd)
    shape.findQuotes(bytes, scanner, next < 0)
    if (next === incomplete) {
      // A mark that nothing closes swallows the rest.
      shape.addFaults(isWhole || shape.records === 0 ? countBytes(bytes.subarray(at), lineEnd) : 1)
      break
    }
    if (next === faulty) {
      shape.addFaults(1)
      const feed = bytes.indexOf(lineEnd, scanner.at)
      at = feed < 0 ? bytes.length : feed + 1
      continue
    }
    if (scanner.fields > 1 || scanner.starts[0] !== -1) shape.add(bytes, scanner)
    at = next
  }
  return shape.fit()
}

class RecordShape {
  readonly #dialect: CsvDialect
  readonly #quote: number
  records = 0
  #faults = 0
  #fitting = 0
  #names: readonly string[] = []
  #common_width = -1
  #hasQuotes = false
  /** By field. */
  #areApostrophes: boolean[] = []

  constructor(dialect: CsvDialect) {
    this.#dialect = dialect
    this.#quote = markByte(dialect.quote)
  }

  /** `isIncomplete`: the last field has no end. */
  findQuotes(bytes: Uint8Array, { fields, starts }: RecordScanner, isIncomplete: boolean): void {
    for (let field = 0; field < fields + Number(isIncomplete) && !this.#hasQuotes; field++) {
      const start = starts[field] ?? -1
      this.#hasQuotes = start > 0 && bytes[start - 1] === this.#quote
    }
  }

  addFaults(count: number): void {
    this.#faults += count
    this.records += count
  }

  add(bytes: Uint8Array, scanner: RecordScanner): void {
    const { fields, starts, ends } = scanner
    const areEnclosed: boolean[] = []
    for (let field = 0; field < fields; field++) {
      const [start, end] = [starts[field] ?? -1, ends[field] ?? -1]
      areEnclosed.push(isEnclosed(bytes, start, end))
    }
    this.records++
    if (this.#names.length === 0) {
      this.#areApostrophes = areEnclosed
      this.#names = Array.from(areEnclosed, (_, field) => textOf(bytes, starts[field] ?? -1, ends[field] ?? -1))
      return
    }
    if (fields === this.#names.length) this.#fitting++
    this.#common_width = this.#common_width === -1 || this.#common_width === fields ? fields : 0
    this.#areApostrophes = this.#areApostrophes.map((was, field) => was && (areEnclosed[field] ?? false))
  }

  fit(): DialectFit {
    const others = Math.max(0, this.records - 1)
    return {
      dialect: this.#dialect,
      width: this.#names.length,
      names: this.#names,
      share: others === 0 ? 1 : this.#fitting / others,
      faults: this.#faults,
      hasQuotes: this.#hasQuotes,
      common_width: Math.max(0, this.#common_width),
      hasApostrophes: this.#areApostrophes.some(Boolean),
    }
  }
}

/** The complete lines of the text, the last one of which ends. */
function closeText(text: Uint8Array, lineEnd: number, isWhole: boolean): Uint8Array {
  const last = text.lastIndexOf(lineEnd)
  if (!isWhole && last >= 0) return text.subarray(0, last + 1)
  if (text.length === 0 || last === text.length - 1) return text
  const closed = new Uint8Array(text.length + 1)
  closed.set(text)
  closed[text.length] = lineEnd
  return closed
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return start < 0 ? '' : new TextDecoder().decode(bytes.subarray(start, end))
}

/** A missing value may stand without marks. */
function isEnclosed(bytes: Uint8Array, start: number, end: number): boolean {
  return start < 0 || (end - start > 1 && bytes[start] === apostrophe && bytes[end - 1] === apostrophe)
}

function countBytes(bytes: Uint8Array, wanted: number): number {
  let count = 0
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) count++
  return count
}
