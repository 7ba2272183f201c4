// The texts of a page as lines, each of one or more cells: texts of a line that are further from each other than words are.

/** As pdf.js has it. A text of blanks alone is a gap; `transform` has the size of the font, and the place of its first character. */
export type PdfTextItem = {
  readonly str: string
  readonly width: number
  readonly height: number
  readonly transform: readonly number[]
  readonly hasEOL: boolean
}

/** In points, from the lower left corner of the page. */
export type PdfCell = { readonly text: string; readonly x: number; readonly y: number; readonly width: number }

export type PdfLine = {
  /** From 1, in the order of the document: lines of one block follow each other closely. */
  readonly block: number
  readonly size: number
  readonly cells: readonly PdfCell[]
}

/** In sizes of the font. */
const [max_word_gap, min_word_gap, max_rise, max_leading] = [0.9, 0.15, 0.4, 1.7]

export function linesOfItems(items: readonly PdfTextItem[]): PdfLine[] {
  const lines: PdfLine[] = []
  let builder = new LineBuilder()
  const flush = () => {
    const found = builder.build()
    builder = new LineBuilder()
    if (found) lines.push({ ...found, block: blockOf(lines.at(-1), found) })
  }
  for (const item of items) {
    if (!builder.takes(item)) flush()
    builder.add(item)
    if (item.hasEOL) flush()
  }
  flush()
  return lines
}

type UnplacedLine = Omit<PdfLine, 'block'>

function blockOf(last: PdfLine | undefined, line: UnplacedLine): number {
  if (!last) return 1
  const [above, below] = [last.cells[0]?.y ?? 0, line.cells[0]?.y ?? 0]
  const step = above - below
  const isNear = step >= 0 && step <= max_leading * Math.max(last.size, line.size) && last.size === line.size
  return isNear ? last.block : last.block + 1
}

class LineBuilder {
  readonly #cells: { text: string; readonly x: number; readonly y: number; end: number }[] = []
  #size = 0

  /** Whether the item is on the same line. */
  takes({ str, transform }: PdfTextItem): boolean {
    const last = this.#cells.at(-1)
    if (!last || str.trim() === '') return true
    const [x = 0, y = 0] = transform.slice(4)
    return Math.abs(y - last.y) <= max_rise * this.#size && x >= last.end - this.#size
  }

  add({ str, width, transform }: PdfTextItem): void {
    const text = str.trim()
    if (text === '') return
    const [a = 0, b = 0, c = 0, d = 0, x = 0, y = 0] = transform
    const size = Math.round((Math.hypot(c, d) || Math.hypot(a, b)) * 100) / 100
    this.#size = Math.max(this.#size, size)
    const last = this.#cells.at(-1)
    const gap = last ? x - last.end : Number.POSITIVE_INFINITY
    if (last && gap <= max_word_gap * this.#size) {
      last.text += (gap >= min_word_gap * this.#size || str.startsWith(' ') ? ' ' : '') + text
      last.end = x + width
    } else this.#cells.push({ text, x, y, end: x + width })
  }

  build(): UnplacedLine | undefined {
    if (this.#cells.length === 0) return undefined
    return {
      size: this.#size,
      cells: this.#cells.map(({ text, x, y, end }) => ({ text, x: round(x), y: round(y), width: round(end - x) })),
    }
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
