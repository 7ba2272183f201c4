// Titles of two variants: they differ in words that take each other's place, or in nearly equal codes.
import { hasDigit, type VariantWords } from './variant-words.ts'

const min_code_length = 4
/** Characters in which nearly equal codes of one length may differ, and their largest share of the code. */
const max_different_characters = 2
const max_different_share = 0.4

/** Whether two titles describe different variants. Words in both titles do not count. */
export function areConflictingTitles(
  left: readonly string[],
  right: readonly string[],
  variants: VariantWords,
): boolean {
  const lefts = left.filter((word) => !right.includes(word))
  const rights = right.filter((word) => !left.includes(word))
  return lefts.some((word) => {
    const replaced = variants.get(word)
    return rights.some(
      (other) =>
        replaced?.has(other) ||
        (areNearlyEqualCodes(word, other) && !left.join('').includes(other) && !right.join('').includes(word)),
    )
  })
}

/** Whether two codes of one length, with letters and digits, differ in one or two characters. */
function areNearlyEqualCodes(a: string, b: string): boolean {
  if (a.length < min_code_length || a.length !== b.length) return false
  if (![a, b].every((code) => hasDigit(code) && /\p{L}/u.test(code))) return false
  let different = 0
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) different++
  return different <= Math.min(max_different_characters, max_different_share * a.length)
}
