// Objects that callers name themselves: the ids that a name may have, so that a hidden holder of it stays hidden.
import { sha256 } from '../../kernel/encoding/canonical-json.ts'
import { type Label, labelKey } from '../../kernel/label/label.ts'
import type { ScopedStore } from '../../kernel/store/scoped-store.ts'
import type { Doc, StoredFields } from '../../kernel/store/store.ts'

/**
 * Finds the document that holds a name for this label, or creates it. A holder that the caller may not see, or that `fits`
 * refuses, keeps its id; the name then has a second id, of the label. So the answer is the same whether it exists or not.
 */
export async function holdName<T extends StoredFields>(
  store: ScopedStore<T>,
  id: string,
  label: Label,
  { create, fits }: { create: (id: string) => Promise<Doc<T> | 'exists'>; fits: (value: T) => boolean },
): Promise<{ readonly doc: Doc<T>; readonly isNew: boolean }> {
  const first = await create(id)
  if (first !== 'exists') return { doc: first, isNew: true }
  const holder = await store.find(id)
  if (holder && fits(holder.value)) return { doc: holder, isNew: false }
  const own_id = idOfLabel(id, label)
  const second = await create(own_id)
  return second === 'exists' ? { doc: await store.get(own_id), isNew: false } : { doc: second, isNew: true }
}

function idOfLabel(id: string, label: Label): string {
  const [prefix] = id.split('_', 1)
  return `${prefix}_${sha256(JSON.stringify([id, labelKey(label)])).slice(0, 32)}`
}
