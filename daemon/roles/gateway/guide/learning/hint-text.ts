// Texts of mined guidance: fixed sentences. Names and values of others stand between quotation marks, in one line and cut.
import { escapeLine } from '../../../../kernel/text/escape-line.ts'
import { shortenText } from '../../../../kernel/text/shorten-text.ts'
import type { RateSample } from './significance.ts'

const max_quote = 120

export function quoteText(text: string): string {
  // Quotation marks inside would end the quote for a reader.
  return `"${escapeLine(shortenText(text, max_quote)).replaceAll('"', "'")}"`
}

export function formatRate({ successes, trials }: RateSample): string {
  return `${successes} of ${trials}`
}
