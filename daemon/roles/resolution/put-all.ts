// Writes many documents at once, whose ids follow from what they are about: again is no change.
import { canonical } from '../../kernel/canonical.ts'
import type { BulkWrite, ScopedStore } from '../../kernel/scoped-store.ts'
import type { Stored } from '../../kernel/store.ts'

export type Written<T> = { readonly id: string; readonly value: T }

/** Creates what is not there and merges into what is, unless that says the same already. */
export async function putAll<T extends Stored & { updated_at: string }>(
  store: ScopedStore<T>,
  given: readonly Written<T>[],
  merge: (before: T, now: T) => T,
): Promise<void> {
  let left = given
  let writes: BulkWrite<T>[] = given.map(({ id, value }) => ({ do: 'create', id, value }))
  while (writes.length > 0) {
    const outcomes = await store.bulk(writes)
    const undone = new Set(writes.flatMap(({ id }, at) => (outcomes[at] === 'done' ? [] : [id])))
    left = left.filter(({ id }) => undone.has(id))
    writes = (await Promise.all(left.map((each) => mergedWrite(store, each, merge)))).filter(
      (write) => write !== undefined,
    )
  }
}

async function mergedWrite<T extends Stored & { updated_at: string }>(
  store: ScopedStore<T>,
  { id, value }: Written<T>,
  merge: (before: T, now: T) => T,
): Promise<BulkWrite<T> | undefined> {
  const before = await store.find(id)
  if (!before) return { do: 'create', id, value }
  const next = merge(before.value, value)
  const isSame = said(next) === said(before.value)
  return isSame ? undefined : { do: 'put', id, value: next, version: before.version }
}

/** Without what tells of the writing alone. */
function said(value: Stored & { updated_at: string }): string {
  return canonical({ ...value, updated_at: '', written: 0 })
}
