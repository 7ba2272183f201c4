// Has the values of forgotten records erased from files once more, after a request brought and stored them.
import type { Call } from '../../../kernel/operation/call.ts'
import { entityRecords, type StoredRecord } from '../entity-record/model.ts'
import { writeConcurrently } from '../upsert-documents.ts'

export async function requestErasure(call: Call, uids: readonly string[]): Promise<void> {
  await writeConcurrently(uids, async (uid) => {
    const record = await call.store(entityRecords).find(uid)
    if (!record || !isErased(record.value)) return
    await call
      .store(entityRecords)
      .update(uid, ({ value }) =>
        isErased(value)
          ? { next: { ...value, erasing: 'files' as const, updated_at: call.nowIso() }, answer: undefined }
          : { answer: undefined },
      )
  })
}

function isErased({ withdrawn, erasing }: StoredRecord): boolean {
  return withdrawn?.kind === 'forgotten' && erasing === undefined
}
