// Nicknames: which names are short or other forms of one name, from the groups of a list.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import { latinForm } from './latin-form.ts'
import { normaliseWords } from './normalise.ts'

/** A name, a colon and its nicknames, in each line. */
type NicknameGroups = readonly string[]

export type NicknameIndex = {
  /** Whether the first words of two Latin forms are nicknames of one name, and the other words equal or missing. */
  areNicknames(a: string, b: string): boolean
  /** Replaces the first word of a Latin form by the name of its group, so that nicknames share a key. */
  nameOf(latin: string): string
}

const indexes = new WeakMap<NicknameGroups, NicknameIndex>()
/** Indexes by the content of their groups, oldest first: a lens that comes in a message is a new object each time. */
const latestIndexes = new Map<string, NicknameIndex>()
const max_latest_indexes = 4

/** Returns the index of the groups of a lens, which is built once. */
export function readNicknames(groups: NicknameGroups): NicknameIndex {
  const known = indexes.get(groups)
  if (known) return known
  const digest = sha256(JSON.stringify(groups))
  const index = latestIndexes.get(digest) ?? buildIndex(groups)
  latestIndexes.delete(digest)
  latestIndexes.set(digest, index)
  for (const oldest of latestIndexes.keys()) {
    if (latestIndexes.size <= max_latest_indexes) break
    latestIndexes.delete(oldest)
  }
  indexes.set(groups, index)
  return index
}

function buildIndex(groups: NicknameGroups): NicknameIndex {
  const groupsOf = new Map<string, Set<number>>()
  const names = groups.map((group) =>
    group
      .split(/[:,]/)
      .map((name) => latinForm(normaliseWords(name)))
      .filter((name) => name !== ''),
  )
  for (const [number, group] of names.entries()) {
    for (const name of new Set(group)) {
      const numbers = groupsOf.get(name)
      if (numbers) numbers.add(number)
      else groupsOf.set(name, new Set([number]))
    }
  }
  // A name that leads a group stands for itself, also where it is a nickname of others.
  const leaders = new Set(names.map(([leader]) => leader))
  return {
    areNicknames(a, b) {
      const [[first, rest], [other, otherRest]] = [splitFirst(a), splitFirst(b)]
      if (first === other || (rest !== otherRest && rest !== '' && otherRest !== '')) return false
      const [numbers, others] = [groupsOf.get(first), groupsOf.get(other)]
      if (!numbers || !others) return false
      return numbers.size < others.size ? sharesAny(numbers, others) : sharesAny(others, numbers)
    },
    nameOf(latin) {
      const [first, rest] = splitFirst(latin)
      const [group = -1] = groupsOf.get(first) ?? []
      const leader = leaders.has(first) ? first : names[group]?.[0]
      return rest === '' ? (leader ?? first) : `${leader ?? first} ${rest}`
    },
  }
}

function sharesAny(numbers: ReadonlySet<number>, others: ReadonlySet<number>): boolean {
  for (const number of numbers) if (others.has(number)) return true
  return false
}

function splitFirst(text: string): [first: string, rest: string] {
  const space = text.indexOf(' ')
  return space < 0 ? [text, ''] : [text.slice(0, space), text.slice(space + 1)]
}
