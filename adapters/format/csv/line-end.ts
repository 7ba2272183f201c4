// Finds the byte that ends the lines of a CSV file: a line feed, alone or behind a carriage return, or a carriage return.
import { type CsvDialect, markByte } from '../../../daemon/kernel/data/csv-dialect.ts'

export const [lineFeed, carriageReturn] = [10, 13]

/**
 * Judges by the first line end of the text outside of quotation marks. A text without one has line feeds, and so has one whose
 * carriage returns stand before a line feed.
 */
export function findLineEnd(text: Uint8Array, { delimiter, quote, escape: escapeMark, comment }: CsvDialect): number {
  const [delimiterByte, quoteByte, escapeByte] = [delimiter, quote, escapeMark].map(markByte)
  let isQuoted = false
  let isFieldStart = text[0] !== markByte(comment)
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]
    if (isQuoted) {
      if (byte === escapeByte && (escapeByte !== quoteByte || text[at + 1] === quoteByte)) at++
      else isQuoted = byte !== quoteByte
      continue
    }
    if (byte === lineFeed) return lineFeed
    if (byte === carriageReturn) return text[skipReturns(text, at)] === lineFeed ? lineFeed : carriageReturn
    isQuoted = isFieldStart && byte === quoteByte
    isFieldStart = byte === delimiterByte
  }
  return lineFeed
}

function skipReturns(text: Uint8Array, from: number): number {
  let at = from
  while (text[at] === carriageReturn) at++
  return at
}
