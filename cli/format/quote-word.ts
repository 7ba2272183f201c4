/** Quotes a word of a printed command, so that a shell reads it as one. */
export function quoteWord(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
