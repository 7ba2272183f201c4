// Where the rows of a landed dataset come from: ranges of consecutive rows, each a line of a file of the dataset.

/** `input`: position in the description of the dataset. `place`: line, row of a sheet, or number of the record there, from 1. */
export type OriginPlace = { readonly input: number; readonly place: number }

/** Rows of consecutive places. `from`: that of the first one; undefined where the rows come from none of the input. */
export type OriginRange = { readonly rows: number; readonly from?: OriginPlace | undefined }

/** Bytes of a line at most. */
export const max_range_bytes = 40

const [open, comma, close, line_feed, zero] = [0x5b, 0x2c, 0x5d, 0x0a, 0x30]

/**
 * Writes ranges as lines of ASCII: `[rows,input,place]`, `[rows,skipped]` for one that begins so many places behind the range before
 * it (the first one: behind the beginning of the first input), and `[rows]` for rows that come from none. Without objects and texts,
 * since a file may have a range for each row.
 */
export class OriginRangeWriter {
  #input = 0
  #after = 1

  /** Returns the end of the line. Numbers of 31 bits; `place`: 0 for none. */
  write(into: Uint8Array, at: number, rows: number, input: number, place: number): number {
    into[at] = open
    let end = writeNumber(into, at + 1, rows)
    if (place > 0) {
      const isBehind = input === this.#input && place >= this.#after
      into[end] = comma
      end = writeNumber(into, end + 1, isBehind ? place - this.#after : input)
      if (!isBehind) {
        into[end] = comma
        end = writeNumber(into, end + 1, place)
      }
      this.#input = input
      this.#after = place + rows
    }
    into[end] = close
    into[end + 1] = line_feed
    return end + 2
  }
}

function writeNumber(into: Uint8Array, at: number, value: number): number {
  let end = at + 1
  for (let rest = value; rest > 9; rest = (rest / 10) | 0) end++
  for (let [digit, rest] = [end - 1, value]; digit >= at; digit--) {
    const tens = (rest / 10) | 0
    into[digit] = zero + rest - tens * 10
    rest = tens
  }
  return end
}

const linePattern = /^\[([1-9]\d{0,9})(?:,(\d{1,10})(?:,([1-9]\d{0,9}))?)?\]$/

/** Reads the lines of one file, in order. */
export class OriginRangeReader {
  #after: OriginPlace = { input: 0, place: 1 }

  /** Undefined for a line of another form. */
  read(line: string): OriginRange | undefined {
    const [isRange, count, second, third] = linePattern.exec(line) ?? []
    if (isRange === undefined) return undefined
    const rows = Number(count)
    if (second === undefined) return { rows }
    const { input, place } = this.#after
    const from =
      third === undefined ? { input, place: place + Number(second) } : { input: Number(second), place: Number(third) }
    this.#after = { input: from.input, place: from.place + rows }
    return { rows, from }
  }
}
