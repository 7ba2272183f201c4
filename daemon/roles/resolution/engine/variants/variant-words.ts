// Words that distinguish the variants of one thing: colours, sizes, house numbers. In the titles of a family of things,
// they take each other's place, and all other words are the same.
import type { ComparedPairs } from '../compare/patterns.ts'
import type { LensRecords } from '../records/records.ts'
import { decodeText } from '../text/dictionary.ts'

/** For each word, the words that take its place. */
export type VariantWords = ReadonlyMap<string, ReadonlySet<string>>

/** Families in which two words must take each other's place: one alone may be an error of a duplicate. */
const min_families = 2
/** Words that one of two words without a digit must replace; a synonym or an abbreviation replaces a single word. */
const min_replaced_words = 2
/** Longer titles are texts, whose words do not distinguish variants. */
const max_title_characters = 400

/** Reads the distinct words of each record's title: its first text field. Undefined without such a field. */
export function readTitleWords({ fields, rows }: LensRecords): readonly (readonly string[])[] | undefined {
  const title = fields.find(({ type }) => type === 'text')
  if (!title) return undefined
  const { codes, dictionary } = title.column
  const words = new Map<number, readonly string[]>([[-1, []]])
  return Array.from({ length: rows }, (_, row) => {
    const code = codes[row]!
    const known = words.get(code)
    if (known) return known
    const title_text = decodeText(dictionary, code).slice(0, max_title_characters)
    const list = [...new Set(title_text.split(' ').filter((word) => word !== ''))]
    words.set(code, list)
    return list
  })
}

/** Finds variant words among candidates whose titles differ in one word. */
export function findVariantWords(
  titles: readonly (readonly string[])[],
  { lefts, rights, length }: Pick<ComparedPairs, 'lefts' | 'rights' | 'length'>,
): VariantWords {
  const families = new Map<string, Set<string>>()
  for (let pair = 0; pair < length; pair++) {
    const replacement = findReplacement(titles[lefts[pair]!]!, titles[rights[pair]!]!)
    if (!replacement) continue
    const key = replacement.words.join(' ')
    const contexts = families.get(key) ?? new Set()
    families.set(key, contexts.add(replacement.context))
  }
  const replacements = [...families].flatMap(([key, contexts]) =>
    contexts.size >= min_families ? [key.split(' ') as [string, string]] : [],
  )
  return linkReplacements(replacements)
}

type Replacement = { readonly words: readonly [string, string]; readonly context: string }

/** Finds the one word that differs; undefined if more differ, or if the words may be spellings of one word. */
function findReplacement(left: readonly string[], right: readonly string[]): Replacement | undefined {
  if (left.length !== right.length || left.length < 2) return undefined
  const [word, ...others] = left.filter((candidate) => !right.includes(candidate))
  if (word === undefined || others.length > 0) return undefined
  const other = right.find((candidate) => !left.includes(candidate))
  if (other === undefined || maySpellOneWord(word, other)) return undefined
  const context = left.filter((candidate) => candidate !== word).sort()
  return { words: word < other ? [word, other] : [other, word], context: context.join(' ') }
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

function linkReplacements(replacements: readonly (readonly [string, string])[]): VariantWords {
  const degrees = new Map<string, number>()
  for (const word of replacements.flat()) degrees.set(word, (degrees.get(word) ?? 0) + 1)
  const variants = new Map<string, Set<string>>()
  const add = (word: string, other: string) => variants.set(word, (variants.get(word) ?? new Set()).add(other))
  for (const [word, other] of replacements) {
    const areNumbers = hasDigit(word) && hasDigit(other)
    if (!areNumbers && Math.max(degrees.get(word)!, degrees.get(other)!) < min_replaced_words) continue
    add(word, other)
    add(other, word)
  }
  return variants
}

export function hasDigit(word: string): boolean {
  return /\d/.test(word)
}
