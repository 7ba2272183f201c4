// American Soundex: the first letter of a name and three digits of its consonants, as the National Archives of the United
// States describe it ("The Soundex Indexing System").

const digits: Readonly<Record<string, string>> = Object.fromEntries(
  ['bfpv', 'cgjkqsxz', 'dt', 'l', 'mn', 'r'].flatMap((letters, at) =>
    Array.from(letters, (letter) => [letter, String(at + 1)]),
  ),
)
const code_length = 4

/** Computes the code of the letters a to z of a lower-case text; empty without letters. */
export function soundex(text: string): string {
  const letters = text.replace(/[^a-z]/g, '')
  let code = letters.slice(0, 1)
  let before = digits[code] ?? ''
  for (let at = 1; at < letters.length && code.length < code_length; at++) {
    const letter = letters[at]!
    const digit = digits[letter] ?? ''
    if (digit !== '' && digit !== before) code += digit
    // Consonants of one digit are one sound also with h or w between them, but not with a vowel.
    if (letter !== 'h' && letter !== 'w') before = digit
  }
  return code === '' ? '' : code.padEnd(code_length, '0')
}
