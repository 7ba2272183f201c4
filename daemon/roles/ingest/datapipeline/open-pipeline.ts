// Reads a pipeline that the caller is about to act on.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { pipelines, type StoredPipeline } from './model.ts'

/** Throws as a change of the document does: `not_your_tenant` for that of another tenant, and `precondition_failed`. */
export async function openPipeline(call: Call, uid: string): Promise<Doc<StoredPipeline>> {
  return (await call.store(pipelines).update(uid, () => ({ answer: undefined }))).doc
}
