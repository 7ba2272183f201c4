// Validates a word against a known list; the message suggests the nearest known word.
import { z } from 'zod'
import { nearestWord } from '../../../kernel/error/nearest-word.ts'

const max_characters = 64

/** `kind` names the kind of word, as in `comparator`. */
export function oneOf<const W extends readonly [string, ...string[]]>(kind: string, words: W) {
  return z.enum(words, { error: ({ input }) => describeUnknownWord(kind, input, words) })
}

/** For example `there is no comparator "jaro"; did you mean jaro_winkler?`, followed by all known words. */
export function describeUnknownWord(kind: string, word: unknown, known: readonly string[]): string {
  if (typeof word !== 'string' || word.length > max_characters) {
    return word === undefined ? 'is required' : `must be one of ${known.join(', ')}`
  }
  const message = `there is no ${kind} ${JSON.stringify(word)}`
  return known.length === 0 ? message : `${message}; did you mean ${nearestWord(word, known)}? (${known.join(', ')})`
}
