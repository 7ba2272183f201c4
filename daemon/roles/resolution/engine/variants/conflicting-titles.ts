// Titles of two variants: they differ in words that take each other's place, or in nearly equal codes.
import { TitleDifference, type TitleWords } from './title-words.ts'
import { hasDigit, type VariantWords } from './variant-words.ts'

const min_code_length = 4
/** Characters in which nearly equal codes of one length may differ, and their largest share of the code. */
const max_different_characters = 2
const max_different_share = 0.4

/** Creates a test whether the titles of two rows describe different variants. Words in both titles do not count. */
export function createConflictTest(
  { words, titles, letters }: TitleWords,
  variants: VariantWords,
): (a: number, b: number) => boolean {
  const isCode = words.map((word) => word.length >= min_code_length && hasDigit(word) && /\p{L}/u.test(word))
  const difference = new TitleDifference()
  return (a, b) => {
    const [left, right] = [titles[a]!, titles[b]!]
    if (left === right) return false
    difference.compare(left, right)
    return difference.left.some((word) => {
      const replaced = variants.get(word)
      return difference.right.some((other) => {
        if (replaced?.has(other)) return true
        if (!isCode[word] || !isCode[other] || !areNearlyEqual(words[word]!, words[other]!)) return false
        // A code may be written in parts, or with a suffix.
        return !letters[a]!.includes(words[other]!) && !letters[b]!.includes(words[word]!)
      })
    })
  }
}

/** Whether two codes of one length differ in one or two characters. */
function areNearlyEqual(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let different = 0
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) different++
  return different <= Math.min(max_different_characters, max_different_share * a.length)
}
