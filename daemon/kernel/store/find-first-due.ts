// Finds due work for fair turns: the oldest due document of each owner in each tenant.
import type { WorkOwner } from '../role/fair-turns.ts'
import { iterateDocuments } from './iterate-documents.ts'
import type { ScopedStore } from './scoped-store.ts'
import type { Doc, Filter, StoredFields } from './store.ts'

/** Few, since a document may be large, and the first one is nearly always free. */
const page_size = 5

export type DueChoice<T extends StoredFields> = {
  /** Whether work of the tenant may begin at all. One at its limit costs no reading of its documents. */
  readonly isOpen?: (tenant_id: string) => boolean
  /** Whether work on the document may begin. */
  readonly isFree: (doc: Doc<T>) => boolean
  /** The field that names the owner, an index; default: `created_by`. */
  readonly owner?: string | undefined
}

/** `due`: the filter of due documents. The collection has the index `created_at`. */
export async function findFirstDue<T extends StoredFields>(
  store: Pick<ScopedStore<T>, 'countBy' | 'list'>,
  due: Filter,
  { isOpen = () => true, isFree, owner = 'created_by' }: DueChoice<T>,
): Promise<Doc<T>[]> {
  const first: Doc<T>[] = []
  for (const tenant_id of (await store.countBy('tenant_id', due)).keys()) {
    if (!isOpen(String(tenant_id))) continue
    for (const value of (await store.countBy(owner, { ...due, tenant_id })).keys()) {
      const order = { field: 'created_at', direction: 'asc' } as const
      const query = { filter: { ...due, tenant_id, [owner]: value }, order, fresh: true, page_size }
      for await (const doc of iterateDocuments(store, query)) {
        if (!isFree(doc)) continue
        first.push(doc)
        break
      }
    }
  }
  return first
}

export function ownerOf({ value }: Doc<StoredFields & { created_by: string }>): WorkOwner {
  return { tenant_id: value.tenant_id, subject: value.created_by }
}
