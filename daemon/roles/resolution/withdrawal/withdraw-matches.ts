// Removes the matches of forgotten records, and takes those of records of deleted entities from the list of reviews.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { entityMatches, type StoredMatch } from '../entity-match/model.ts'
import type { StoredRecord } from '../entity-record/model.ts'
import type { RegistryKey } from '../fields.ts'
import { listByValues } from '../registry/decision-reach.ts'
import { writeConcurrently } from '../upsert-documents.ts'

/** A match shows which values of a record are equal to those of the other, so it must not outlive the record. */
export async function withdrawMatches(
  call: Call,
  registry: RegistryKey,
  docs: readonly Doc<StoredRecord>[],
): Promise<void> {
  const uids = docs.map(({ id }) => id)
  const forgotten = new Set(docs.flatMap(({ id, value }) => (value.withdrawn?.kind === 'forgotten' ? [id] : [])))
  const lefts = await listByValues(call, entityMatches, registry, 'left_uid', uids)
  const rights = await listByValues(call, entityMatches, registry, 'right_uid', uids)
  const matches = new Map([...lefts, ...rights].map((doc) => [doc.id, doc]))
  await writeConcurrently([...matches.values()], ({ id, value: { left_uid, right_uid } }) =>
    forgotten.has(left_uid) || forgotten.has(right_uid) ? removeMatch(call, id) : closeMatch(call, id),
  )
}

async function removeMatch(call: Call, id: string): Promise<void> {
  await call
    .store(entityMatches)
    .remove(id)
    .catch((error: unknown) => {
      // The next pass removes a match that changed meanwhile.
      if (!isRefusal(error) || error.code !== 'not_found') throw error
    })
}

async function closeMatch(call: Call, id: string): Promise<void> {
  await call.store(entityMatches).update(id, ({ value }) => {
    const closed: Partial<StoredMatch> = { linked: false, worth: 0, owes: 0, asks: 0 }
    return { next: { ...value, ...closed }, answer: undefined }
  })
}
