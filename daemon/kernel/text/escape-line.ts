// Untrusted text as one line that shows each of its characters: for terminals, screens and prose that people read.

/**
 * Characters that a terminal obeys, that end a line, that reverse or hide what stands beside them, or that show nothing.
 * Default_Ignorable_Code_Point holds fillers and selectors that are no format characters. U+2800 is an empty Braille cell.
 * Source: Unicode Technical Report 36, and CVE-2021-42574 (Trojan Source).
 */
const misleadingPattern = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Each misleading character becomes an escape such as `\n` or `\u202e`, which JSON parsers read as the same character inside a string. */
export function escapeLine(text: string): string {
  return text.replaceAll(misleadingPattern, escapeCharacter)
}

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escapeCharacter(character: string): string {
  const short = shortEscapes[character]
  if (short) return short
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
