// Nicknames: which names are short or other forms of one name, from the groups of a list.
import { latinForm } from './latin-form.ts'
import { normaliseWords } from './normalise.ts'

/** Groups of a name and its nicknames, the name first. */
type NicknameGroups = readonly (readonly string[])[]

export type NicknameIndex = {
  /** Whether the first words of two Latin forms are nicknames of one name, and the other words equal or missing. */
  areNicknames(a: string, b: string): boolean
  /** Replaces the first word of a Latin form by the name of its group, so that nicknames share a key. */
  nameOf(latin: string): string
}

const indexes = new WeakMap<NicknameGroups, NicknameIndex>()

/** Returns the index of the groups of a lens, which is built once. */
export function readNicknames(groups: NicknameGroups): NicknameIndex {
  const known = indexes.get(groups)
  if (known) return known
  const index = buildIndex(groups)
  indexes.set(groups, index)
  return index
}

function buildIndex(groups: NicknameGroups): NicknameIndex {
  const groupsOf = new Map<string, number[]>()
  const names = groups.map((group) => group.map((name) => latinForm(normaliseWords(name))))
  for (const [number, group] of names.entries()) {
    for (const name of new Set(group)) {
      const list = groupsOf.get(name)
      if (list) list.push(number)
      else groupsOf.set(name, [number])
    }
  }
  // A name that leads a group stands for itself, also where it is a nickname of others.
  const leaders = new Set(names.map(([leader]) => leader))
  return {
    areNicknames(a, b) {
      const [[first, rest], [other, otherRest]] = [splitFirst(a), splitFirst(b)]
      if (first === other || (rest !== otherRest && rest !== '' && otherRest !== '')) return false
      const others = groupsOf.get(other)
      return others !== undefined && (groupsOf.get(first)?.some((number) => others.includes(number)) ?? false)
    },
    nameOf(latin) {
      const [first, rest] = splitFirst(latin)
      const leader = leaders.has(first) ? first : names[groupsOf.get(first)?.[0] ?? -1]?.[0]
      return rest === '' ? (leader ?? first) : `${leader ?? first} ${rest}`
    },
  }
}

function splitFirst(text: string): [first: string, rest: string] {
  const space = text.indexOf(' ')
  return space < 0 ? [text, ''] : [text.slice(0, space), text.slice(space + 1)]
}
