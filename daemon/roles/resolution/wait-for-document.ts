// Waits within a request until a document reaches a given state, or until a timeout.
import type { Call } from '../../kernel/operation/call.ts'
import type { Collection, Doc, StoredFields } from '../../kernel/store/store.ts'

/** After this time a request is answered with the current state. */
const timeout_ms = 15_000
/** Another process may change the document without an announcement here. */
const poll_interval_ms = 1_000

/** Reads the document at each announcement on `topic` until `isDone` or the timeout. Returns the last version read. */
export async function waitForDocument<T extends StoredFields>(
  call: Call,
  collection: Collection<T>,
  first: Doc<T>,
  topic: string,
  isDone: (value: T) => boolean,
): Promise<Doc<T>> {
  const until = call.monotonic() + timeout_ms
  let doc = first
  if (isDone(doc.value)) return doc
  for await (const _ of call.changes(topic, call.signal, poll_interval_ms)) {
    doc = await call.store(collection).get(first.id)
    if (isDone(doc.value) || call.monotonic() >= until) break
  }
  return doc
}
