// One of a few known words, or a fault that names the one that was probably meant.
import { z } from 'zod'
import { nearestWord } from '../../../kernel/error/nearest-word.ts'

const max_characters = 64

/** `what` says what the words are, as in `comparator`. */
export function oneOf<const W extends readonly [string, ...string[]]>(what: string, words: W) {
  return z.enum(words, { error: ({ input }) => describeUnknownWord(what, input, words) })
}

/** `there is no comparator "jaro"; did you mean jaro_winkler?`, and all there are when nothing was said. */
export function describeUnknownWord(what: string, given: unknown, known: readonly string[]): string {
  if (typeof given !== 'string' || given.length > max_characters) {
    return given === undefined ? 'is required' : `must be one of ${known.join(', ')}`
  }
  const said = `there is no ${what} ${JSON.stringify(given)}`
  return known.length === 0 ? said : `${said}; did you mean ${nearestWord(given, known)}? (${known.join(', ')})`
}
