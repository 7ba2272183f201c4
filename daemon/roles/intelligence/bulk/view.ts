// Shows a bulk disposition as the API returns it.
import type { Doc } from '../../../kernel/store/store.ts'
import type { BulkDisposition, BulkItem, StoredBulk } from './model.ts'

export function showBulk(doc: Doc<StoredBulk>): BulkDisposition {
  return { ...showBulkInList(doc), items: doc.value.items }
}

export function showBulkInList({ id, version, value }: Doc<StoredBulk>): BulkDisposition {
  const { label: classification, request_digest: _request, clearance: _clearance, owes: _owes, items, ...rest } = value
  const number = (outcomeName: BulkItem['outcome']) => items.filter(({ outcome }) => outcome === outcomeName).length
  return {
    ...{ uid: id, version, classification, ...rest, total: items.length },
    ...{ done: number('done'), refused: number('refused'), cancelled: number('cancelled') },
  }
}
