// Processes all documents with pending deliveries; a failing one does not delay the others.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Collection, Doc, StoredFields } from '../../../kernel/store/store.ts'

export async function forEachPending<T extends StoredFields>(
  call: Call,
  collection: Collection<T>,
  deliver: (call: Call, doc: Doc<T>) => Promise<void>,
): Promise<void> {
  let cursor: string | undefined
  do {
    const query = { filter: { owes: 1 }, limit: 100, ...(cursor === undefined ? {} : { cursor }), fresh: true }
    const page = await call.store(collection).list(query)
    for (const doc of page.docs) {
      if (call.signal.aborted) return
      await deliver(call, doc).catch((error: unknown) => {
        const { trace_id } = call.trace
        call.log.error(`${call.address}.delivery_failed`, {
          trace_id,
          of: collection.name,
          id: doc.id,
          error: String(error),
        })
      })
    }
    cursor = page.next_cursor
  } while (cursor !== undefined)
}
