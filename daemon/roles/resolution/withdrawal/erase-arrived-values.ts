// Removes the values of forgotten records from arrivals that still have values.
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { arrivals } from '../arrival/model.ts'
import type { StoredRecord } from '../entity-record/model.ts'
import type { RegistryKey } from '../fields.ts'
import { recordKey } from '../registry/record-key.ts'

/** Arrivals that wait, and those that an earlier release completed with their values in the last week. */
export async function eraseArrivedValues(
  call: Call,
  registry: RegistryKey,
  docs: readonly Doc<StoredRecord>[],
): Promise<void> {
  const forgotten = new Set(
    docs.flatMap(({ value }) => (value.withdrawn?.kind === 'forgotten' ? [recordKey(value.ref)] : [])),
  )
  if (forgotten.size === 0) return
  // Without another condition, so that the store seeks the few that have values.
  const filter = { tenant_id: registry.tenant_id, emptied_at: { exists: false } }
  const order = { field: 'emptied_at', direction: 'asc' } as const
  const query = { filter, order, fresh: true, page_size: 20 }
  for await (const { id, value } of iterateDocuments(call.store(arrivals), query)) {
    if (value.lens !== registry.lens || !value.records.some(({ ref }) => forgotten.has(recordKey(ref)))) continue
    await call.store(arrivals).update(id, ({ value: current }) => {
      const records = current.records.map((record) =>
        forgotten.has(recordKey(record.ref)) ? { ...record, values: {} } : record,
      )
      return { next: { ...current, records }, answer: undefined }
    })
  }
}
