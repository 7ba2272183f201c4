// Finds the dialect of a CSV file in its beginning: the delimiter and quotation marks that give all records the same fields.
import { type CsvDialect, csvDialect } from '../../../daemon/kernel/data/csv-dialect.ts'
import { type DialectFit, measureDialect } from './dialect-fit.ts'

export type DetectedDialect = Pick<CsvDialect, 'delimiter' | 'quote' | 'escape'> & {
  /** Whether the file has one column, and so no delimiter. */
  readonly isSingleColumn: boolean
  /** The values of all other lines, where the first line has one name: it may be wrong, or the file may have one column. */
  readonly unnamed_values: number
  /** Delimiters that give all records the same fields as well, with the number of these. */
  readonly rivals: readonly { readonly delimiter: string; readonly columns: number }[]
}

/** In the order of preference: between equals, a comma separates values by convention. */
const usualDelimiters = [',', ';', '\t', '|', '^', '~'] as const

/** `delimiter`: the one that is known, so that only quotation marks are found. */
export function detectDialect(text: Uint8Array, isWhole: boolean, delimiter?: string): DetectedDialect {
  const fits = (delimiter === undefined ? usualDelimiters : [delimiter]).map((each) => fitQuotes(text, isWhole, each))
  const [usual] = fits as [DialectFit]
  if (delimiter !== undefined) return toDialect(usual, usual.width === 1)
  const splitting = fits.filter(({ width }) => width > 1)
  if (splitting.length === 0) return detectSingleColumn(text, fits)
  const best = splitting.reduce((winner, each) => (isBetter(each, winner) ? each : winner))
  const rivals = splitting
    .filter((each) => each !== best && best.share === 1 && each.share === 1 && each.faults === best.faults)
    .map(({ dialect, width }) => ({ delimiter: dialect.delimiter, columns: width }))
  return { ...toDialect(best, false), rivals }
}

/** Whether a fit is better than that of a delimiter that comes before it in the order of preference. */
function isBetter(fit: DialectFit, former: DialectFit): boolean {
  if (fit.share !== former.share) return fit.share > former.share
  if (fit.faults !== former.faults) return fit.faults < former.faults
  // The names show which one is part of the texts: all of "id;name" and "first;price" have a semicolon. Texts have no tab.
  const { delimiter } = fit.dialect
  if (delimiter === '\t') return true
  if (former.dialect.delimiter === '\t') return false
  if (former.names.every((name) => name.includes(delimiter))) return true
  // "Street, no" is one name: a blank follows the marks of sentences, and the more columns of both are those of the table.
  const [isTextual, isFormerTextual] = [fit, former].map(({ names }) =>
    names.slice(1).some((name) => name.startsWith(' ')),
  )
  if (isTextual !== isFormerTextual) return isFormerTextual === true
  return fit.width > former.width
}

/** A column of texts may have any character; the delimiter is one that it does not have. */
function detectSingleColumn(text: Uint8Array, fits: readonly DialectFit[]): DetectedDialect {
  const [usual] = fits as [DialectFit]
  // All lines have two values and more, so it is the first line that is wrong.
  const isBroken = fits.find(({ common_width, faults }) => common_width > 1 && faults === 0)
  if (isBroken) return { ...toDialect(isBroken, false), unnamed_values: isBroken.common_width }
  const absent = usualDelimiters.find((each) => !text.includes(each.charCodeAt(0)))
  const fit = fits.find(({ dialect }) => dialect.delimiter === absent) ?? usual
  return toDialect(fit, true)
}

function toDialect({ dialect: { delimiter, quote, escape: escapeMark } }: DialectFit, isSingleColumn: boolean) {
  return { delimiter, quote, escape: escapeMark, isSingleColumn, unnamed_values: 0, rivals: [] }
}

const [backslash, apostrophe] = [0x5c, 0x27]

/** Other quotation marks than the usual ones count only where the usual ones do not fit. */
function fitQuotes(text: Uint8Array, isWhole: boolean, delimiter: string): DialectFit {
  const measure = (marks: Partial<CsvDialect>) =>
    measureDialect(text, isWhole, csvDialect.parse({ delimiter, ...marks }))
  const usual = measure({})
  if (usual.faults > 0) {
    const escaped = text.includes(backslash) && delimiter !== '\\' ? measure({ escape: '\\' }) : undefined
    if (escaped?.faults === 0 && escaped.share === 1) return escaped
    const none = usual.hasQuotes ? undefined : measure({ quote: '' })
    return none && none.share > usual.share ? none : usual
  }
  if (usual.hasQuotes || delimiter === "'" || !text.includes(apostrophe)) return usual
  const single = measure({ quote: "'", escape: "'" })
  if (single.faults > 0 || !single.hasQuotes) return usual
  return single.share > usual.share || usual.hasApostrophes ? single : usual
}
