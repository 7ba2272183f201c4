// Preserves arrived records that a run did not read, so that the run does not undo them.
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { entityRecords, type StoredRecord } from '../entity-record/model.ts'
import type { StoredRun } from '../fusion-run/model.ts'

/** Whether the record arrived after the request of the run, and so is newer than the data of the run. */
export function hasArrivedSince({ value: { created_at } }: Doc<StoredRun>, record: StoredRecord): boolean {
  return record.came_at !== undefined && record.came_at > created_at
}

/** Requeues arrived records that the run did not contain, to match them with its weights and records. */
export async function requeueArrivals(call: Call, { id, value: { tenant_id, lens } }: Doc<StoredRun>): Promise<void> {
  const filter = { tenant_id, lens, arrived: 'matched' }
  const order = { field: 'arrived', direction: 'asc' } as const
  for await (const doc of iterateDocuments(call.store(entityRecords), { filter, order, fresh: true })) {
    await call
      .store(entityRecords)
      .update(doc.id, ({ value }) =>
        value.arrived === 'matched' && value.run_id !== id
          ? { next: { ...value, arrived: 'waiting' }, answer: undefined }
          : { answer: undefined },
      )
  }
}
