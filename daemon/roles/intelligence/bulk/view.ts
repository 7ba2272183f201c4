// Shows a bulk disposition as the API returns it.
import { showDelay } from '../../../kernel/job/job-delay.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { adoptEarlierBulk, type BulkDisposition, type BulkItem, type StoredBulk } from './model.ts'

export function showBulk(doc: Doc<StoredBulk>): BulkDisposition {
  return { ...showBulkInList(doc), items: doc.value.items }
}

export function showBulkInList({ id, version, value: stored }: Doc<StoredBulk>): BulkDisposition {
  const value = adoptEarlierBulk(stored) as StoredBulk
  const { label: classification, request_digest: _request, job: _job, job_due_ts: _due, items, ...rest } = value
  const number = (outcomeName: BulkItem['outcome']) => items.filter(({ outcome }) => outcome === outcomeName).length
  return {
    ...{ uid: id, version, classification, ...rest, total: items.length },
    ...{ done: number('done'), refused: number('refused'), cancelled: number('cancelled') },
    ...showDelay(value),
  }
}
