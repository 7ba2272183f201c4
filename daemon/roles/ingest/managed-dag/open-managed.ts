// Reads an object with a DAG that the caller is about to act on.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Collection, Doc } from '../../../kernel/store/store.ts'
import type { ManagedDag } from './model.ts'

/** Throws as a change of the document does: `not_your_tenant` for that of another tenant, and `precondition_failed`. */
export async function openManaged<T extends ManagedDag>(
  call: Call,
  collection: Collection<T>,
  uid: string,
): Promise<Doc<T>> {
  return (await call.store(collection).update(uid, () => ({ answer: undefined }))).doc
}
