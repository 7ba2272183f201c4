// Words that distinguish the variants of one thing: colours, sizes, house numbers. In the titles of a family of things,
// they take each other's place, and all other words are the same.
import type { ComparedPairs } from '../compare/patterns.ts'
import { TitleDifference, type TitleWords } from './title-words.ts'

/** For each word, the words that take its place, all by number. */
export type VariantWords = ReadonlyMap<number, ReadonlySet<number>>

/** Families in which two words must take each other's place: one alone may be an error of a duplicate. */
const min_families = 2
/** Words that one of two words without a digit must replace; a synonym or an abbreviation replaces a single word. */
const min_replaced_words = 2

/** Finds variant words among candidates whose titles differ in one word. `onPair` is called for each, and may throw. */
export function findVariantWords(
  { words, titles }: TitleWords,
  { lefts, rights, length }: Pick<ComparedPairs, 'lefts' | 'rights' | 'length'>,
  onPair: (pair: number) => void = () => undefined,
): VariantWords {
  const difference = new TitleDifference()
  const families = new Map<number, Set<number>>()
  for (let pair = 0; pair < length; pair++) {
    onPair(pair)
    const [left, right] = [titles[lefts[pair]!]!, titles[rights[pair]!]!]
    if (left.length !== right.length || left.length < 2 || !difference.compare(left, right, 1)) continue
    const [word, other] = [difference.left[0], difference.right[0]]
    if (word === undefined || other === undefined || maySpellOneWord(words[word]!, words[other]!)) continue
    const key = Math.min(word, other) * words.length + Math.max(word, other)
    const contexts = families.get(key) ?? new Set()
    families.set(key, contexts.add(hashOtherWords(left, word)))
  }
  const replacements: (readonly [number, number])[] = []
  for (const [key, contexts] of families) {
    if (contexts.size >= min_families) replacements.push([Math.floor(key / words.length), key % words.length])
  }
  return linkReplacements(words, replacements)
}

/** Hashes the words of a title besides one: equal hashes of different families are rare enough. */
function hashOtherWords(title: Int32Array, word: number): number {
  let hash = 0
  for (const other of title) {
    if (other === word) continue
    hash = Math.imul(hash ^ other, 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 15), 0x9e3779b1)
  }
  return hash
}

/** Two numbers are never spellings of one word; other words are if one edit or a shorter form explains them. */
function maySpellOneWord(a: string, b: string): boolean {
  if (hasDigit(a) && hasDigit(b)) return false
  if (a.startsWith(b) || b.startsWith(a)) return true
  const shortest = Math.min(a.length, b.length)
  let first = 0
  while (first < shortest && a[first] === b[first]) first++
  let last = 0
  while (last < shortest - first && a.at(-1 - last) === b.at(-1 - last)) last++
  return first + last >= Math.max(a.length, b.length) - 1
}

function linkReplacements(
  words: readonly string[],
  replacements: readonly (readonly [number, number])[],
): VariantWords {
  const degrees = new Map<number, number>()
  for (const word of replacements.flat()) degrees.set(word, (degrees.get(word) ?? 0) + 1)
  const variants = new Map<number, Set<number>>()
  const add = (word: number, other: number) => variants.set(word, (variants.get(word) ?? new Set()).add(other))
  for (const [word, other] of replacements) {
    const areNumbers = hasDigit(words[word]!) && hasDigit(words[other]!)
    if (!areNumbers && Math.max(degrees.get(word)!, degrees.get(other)!) < min_replaced_words) continue
    add(word, other)
    add(other, word)
  }
  return variants
}

export function hasDigit(word: string): boolean {
  return /\d/.test(word)
}
