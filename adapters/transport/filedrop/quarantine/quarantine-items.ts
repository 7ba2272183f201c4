// The items of a quarantine by the files that lie there: what is counted is what is listed, and what can be dismissed.

/** Names without the leading dot of a draft that a crash left. */
const itemName = /^(\w[\w-]{0,255})(?:\.|$)/

/** Names of files by the id of their item, which is everything before the first dot. */
export function groupByItem(names: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const items = new Map<string, string[]>()
  for (const name of names) {
    const id = itemIdOf(name)
    if (id === '') continue
    const known = items.get(id)
    if (known) known.push(name)
    else items.set(id, [name])
  }
  return items
}

/** The id of the item that a file belongs to; empty for a draft. */
export function itemIdOf(name: string): string {
  return itemName.exec(name)?.[1] ?? ''
}

/** The id that a caller names; it cannot lead out of the quarantine. */
export function isItemId(id: string): boolean {
  return id !== '' && itemIdOf(id) === id
}

/** The reason of an item whose reason file is missing or damaged; nothing can be released without one. */
export const unexplained = { reason: 'UNEXPLAINED', detail: 'its reason file is missing or damaged' } as const
