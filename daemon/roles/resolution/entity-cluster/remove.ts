// Deletes an entity: its id answers no lookup, and its records stay out of matching or are forgotten.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { recordEntityChange } from '../entity-change/recorded-changes.ts'
import { uid } from '../fields.ts'
import { matchingOperation } from '../matching.ts'
import { waitForDocument } from '../wait-for-document.ts'
import { noteRemoval } from '../withdrawal/entity-removal.ts'
import { refuseOpenWork, withdrawalReason } from '../withdrawal/withdrawal-input.ts'
import { clusterTopic, clusterView, entityClusters, type Removal, type StoredCluster, showCluster } from './model.ts'

/** An entity of more records is the work of a faulty lens, and its records are not one thing to delete. */
const max_records = 1_000

export const remove = matchingOperation({
  summary: 'Delete an entity; its records belong to no entity from then on',
  method: 'POST',
  path: '/api/v2/entity_cluster/{uid}/remove',
  input: z.strictObject({
    uid,
    reason: withdrawalReason,
    forget: z.boolean().default(false).meta({ description: 'Also forget its records: erase their values' }),
  }),
  output: clusterView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
  allow: 'resolution:forget',
  versioned: true,

  async run(call, { uid, reason, forget }) {
    const removal = { at: call.nowIso(), by: call.caller.subject, reason }
    const rule = (entity: StoredCluster) => markDeleted(entity, removal, forget)
    const before = (await call.store(entityClusters).find(uid))?.value
    // Another tenant's entity is not found here, and refused by the change.
    const isChange = before !== undefined && rule(before) !== before
    const refused = isChange ? await refuseOpenWork(call, before) : undefined
    const removed = refused ?? (await changeEntity(call, uid, { reason, forget }, rule))
    if (isRefusal(removed)) return removed
    await noteRemoval(call, removed)
    call.wake('recluster')
    call.wake('entity-changes')
    return showCluster(await waitForDocument(call, entityClusters, removed, clusterTopic(uid), isSettled))
  },
})

function isSettled({ removing }: StoredCluster): boolean {
  return removing === undefined
}

async function changeEntity(
  call: Call,
  uid: string,
  request: { readonly reason: string; readonly forget: boolean },
  rule: (entity: StoredCluster) => StoredCluster | Refusal,
): Promise<Doc<StoredCluster> | Refusal> {
  const { doc, answer } = await call.store(entityClusters).update<Refusal | undefined>(uid, ({ value }) => {
    const next = rule(value)
    if (isRefusal(next)) return { answer: next }
    if (next === value) return { answer: undefined }
    const detail = { lens: value.lens, records: (next.former ?? []).length, ...request }
    return { next, answer: undefined, audit: [call.audited(call.address, uid, detail, value.label)] }
  })
  return answer ?? doc
}

/** Returns the same value for an entity that is deleted so already. */
function markDeleted(entity: StoredCluster, removal: Removal, forget: boolean): StoredCluster | Refusal {
  const { state, members, size, lineage, deleted, forgotten } = entity
  const forgottenField = forget ? { forgotten: forgotten ?? removal } : {}
  if (state === 'merged') {
    const into = (lineage.merged_into ?? []).join(', ')
    return refuse('wrong_state', `the entity was merged${into && ` into ${into}`}, and has no records: delete that one`)
  }
  if (deleted) return forget && !forgotten ? { ...entity, ...forgottenField, removing: 1 } : entity
  if (size > max_records) {
    const remedy = 'check the lens and its threshold, or forget single records'
    return refuse(
      'too_large',
      `the entity has ${size} records, and one of at most ${max_records} can be deleted: ${remedy}`,
    )
  }
  const end = { state: 'deleted' as const, members: [], size: 0, former: members, removing: 1 as const }
  const { at, by } = removal
  const after = { ...entity, ...end, deleted: removal, ...forgottenField, updated_at: at }
  return recordEntityChange(entity, after, { at, cause: { kind: 'deletion', by } })
}
