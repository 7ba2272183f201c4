// Records that came by themselves while a run was at work or since the one before: a run does not undo them.
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { entityRecords, type StoredRecord } from '../entity-record/model.ts'
import type { StoredRun } from '../fusion-run/model.ts'

/** What was said of the record after the run was asked for is newer than what the run has read. */
export function hasArrivedSince({ value: { created_at } }: Doc<StoredRun>, record: StoredRecord): boolean {
  return record.came_at !== undefined && record.came_at > created_at
}

/** What the run did not bring is matched anew by what it has learnt, among what it brought. */
export async function requeueArrivals(call: Call, { id, value: { tenant_id, lens } }: Doc<StoredRun>): Promise<void> {
  const filter = { tenant_id, lens, arrived: 'matched' }
  for await (const doc of iterateDocuments(call.store(entityRecords), { filter, fresh: true })) {
    await call
      .store(entityRecords)
      .update(doc.id, ({ value }) =>
        value.arrived === 'matched' && value.run_id !== id
          ? { next: { ...value, arrived: 'waiting' }, answer: undefined }
          : { answer: undefined },
      )
  }
}
