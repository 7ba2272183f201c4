// Levels of values that list codes or numbers: what two records of one thing share, and variants of a thing do not.
import { countRows, type DictionaryColumn, decodeText } from '../text/dictionary.ts'
import { listRareCodes } from '../text/rare-codes.ts'
import { buildValueSets, countCommonParts } from './sets.ts'
import type { LevelClassifier } from './type-levels.ts'

/** Shortest code that is searched for within the other text: shorter ones occur by chance. */
const min_embedded_length = 5
/** Share of two codes that must agree, from both ends, for them to be nearly equal. */
const min_equal_share = 0.6

/**
 * Codes within texts: one in common, one within the letters of the other text, different, nearly equal. Codes that
 * many rows share do not count. Without a code on one side, only an embedded code is evidence.
 */
export function createCodesLevels(column: DictionaryColumn): LevelClassifier {
  const texts = decodeTexts(column)
  const codes = listRareCodes(texts, column.codes.length, countRows(column))
  const letters = texts.map((text) => text.replaceAll(' ', ''))
  const isEmbedded = (value: number, other: number, min_length: number) =>
    codes[value]!.some((code) => code.length >= min_length && letters[other]!.includes(code))
  return {
    count: 4,
    levelOf(a, b) {
      const [left, right] = [codes[a]!, codes[b]!]
      if (left.some((code) => right.includes(code))) return 0
      const hasBoth = left.length > 0 && right.length > 0
      const min_length = hasBoth ? 0 : min_embedded_length
      if (isEmbedded(a, b, min_length) || isEmbedded(b, a, min_length)) return 1
      if (!hasBoth) return -1
      return left.some((code) => right.some((other) => areNearlyEqual(code, other))) ? 3 : 2
    },
  }
}

function decodeTexts({ dictionary }: DictionaryColumn): string[] {
  return Array.from({ length: dictionary.size }, (_, code) => decodeText(dictionary, code))
}

/** Whether most of two codes agrees from the beginning and from the end. */
function areNearlyEqual(a: string, b: string): boolean {
  const shortest = Math.min(a.length, b.length)
  let first = 0
  while (first < shortest && a[first] === b[first]) first++
  let last = 0
  while (last < shortest - first && a.at(-1 - last) === b.at(-1 - last)) last++
  return first + last >= min_equal_share * Math.max(a.length, b.length)
}

/** Numbers of texts: the same, all of one among the others, some in common, none. */
export function createNumbersLevels(column: DictionaryColumn): LevelClassifier {
  const sets = buildValueSets(decodeTexts(column), (text) => text.split(' '))
  const sizeOf = (value: number) => sets.starts[value + 1]! - sets.starts[value]!
  return {
    count: 4,
    levelOf(a, b) {
      const common = countCommonParts(sets, a, b)
      if (common === 0) return 3
      if (common < Math.min(sizeOf(a), sizeOf(b))) return 2
      return sizeOf(a) === sizeOf(b) ? 0 : 1
    },
  }
}
