// A bulk disposition as the interface shows it.
import type { Doc } from '../../../kernel/store.ts'
import type { Bulk, BulkItem, StoredBulk } from './model.ts'

export function shown(doc: Doc<StoredBulk>): Bulk {
  return { ...shownInList(doc), items: doc.value.items }
}

export function shownInList({ id, version, value }: Doc<StoredBulk>): Bulk {
  const { label: classification, request_digest: _request, clearance: _clearance, owes: _owes, items, ...rest } = value
  const number = (of: BulkItem['outcome']) => items.filter(({ outcome }) => outcome === of).length
  return {
    ...{ uid: id, version, classification, ...rest, total: items.length },
    ...{ done: number('done'), refused: number('refused'), cancelled: number('cancelled') },
  }
}
