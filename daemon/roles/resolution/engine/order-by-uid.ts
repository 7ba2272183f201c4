// The order in which findings are published.

const digits = 32
/** Of a uid: as many hexadecimal digits as a number holds. */
const key_digits = 12

/**
 * Orders items by the uids under which they will be stored. Uids are hashes: in any other order each document changes another page of
 * almost every index of its collection, and a store writes ten times as much.
 */
export function orderByUid(items: Iterable<number>, uidOf: (item: number) => string): number[] {
  const keyed = Array.from(items, (item) => ({ item, key: readKey(uidOf(item)) }))
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item)
}

function readKey(uid: string): number {
  const from = uid.length - digits
  return Number.parseInt(uid.slice(from, from + key_digits), 16)
}
