// Titles as sorted numbers of their distinct words, and the words in which two titles differ.
import type { LensRecords } from '../records/records.ts'
import { decodeText } from '../text/dictionary.ts'

/** Longer titles are texts, whose words do not distinguish variants. */
const max_title_characters = 400

export type TitleWords = {
  /** Every word, by its number. */
  readonly words: readonly string[]
  /** Ascending numbers of the distinct words of each row's title. */
  readonly titles: readonly Int32Array[]
  /** The letters and digits of each row's title, without spaces. */
  readonly letters: readonly string[]
}

/** Reads the title of each record: its first text field. Undefined without such a field. */
export function readTitleWords({ fields }: LensRecords): TitleWords | undefined {
  const title = fields.find(({ type }) => type === 'text')
  if (!title) return undefined
  const { codes, dictionary } = title.column
  const numbers = new Map<string, number>()
  const numberOf = (word: string) => {
    const number = numbers.get(word) ?? numbers.size
    numbers.set(word, number)
    return number
  }
  const texts = Array.from({ length: dictionary.size }, (_, code) =>
    decodeText(dictionary, code).slice(0, max_title_characters),
  )
  const titleOfValue = texts.map((text) => {
    return Int32Array.from(new Set(text.split(' ').filter((word) => word !== '')), numberOf).sort()
  })
  const lettersOfValue = texts.map((text) => text.replaceAll(' ', ''))
  const none = new Int32Array(0)
  return {
    words: [...numbers.keys()],
    titles: Array.from(codes, (code) => (code < 0 ? none : titleOfValue[code]!)),
    letters: Array.from(codes, (code) => (code < 0 ? '' : lettersOfValue[code]!)),
  }
}

/** Words of each of two titles that the other lacks. Reused, since most candidates are compared. */
export class TitleDifference {
  readonly left: number[] = []
  readonly right: number[] = []

  /** Compares two titles; gives up after more than `limit` words on one side, and returns false then. */
  compare(a: Int32Array, b: Int32Array, limit = Number.POSITIVE_INFINITY): boolean {
    this.left.length = 0
    this.right.length = 0
    let [i, j] = [0, 0]
    while (i < a.length || j < b.length) {
      const difference = i === a.length ? 1 : j === b.length ? -1 : a[i]! - b[j]!
      if (difference === 0) {
        i++
        j++
      } else if (difference < 0) this.left.push(a[i++]!)
      else this.right.push(b[j++]!)
      if (this.left.length > limit || this.right.length > limit) return false
    }
    return true
  }
}
