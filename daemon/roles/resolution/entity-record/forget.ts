// Forgets a record: erases its values everywhere, and leaves a tombstone, so that it is never stored again.
import * as z from 'zod'
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { instant, recordRef, shortText, uid } from '../fields.ts'
import { matchingOperation } from '../matching.ts'
import { waitForDocument } from '../wait-for-document.ts'
import { withdrawRecord } from '../withdrawal/withdraw-record.ts'
import { refuseOpenWork, withdrawalReason } from '../withdrawal/withdrawal-input.ts'
import { entityRecords, recordTopic, recordUid, type StoredRecord } from './model.ts'
import { writeNumbered } from './write-numbered.ts'

const tombstone = z
  .strictObject({
    uid,
    classification: label,
    lens: shortText,
    ref: recordRef,
    forgotten_at: instant,
    forgotten_by: shortText,
    reason: z.string(),
    settled: z
      .boolean()
      .meta({ description: 'Whether entities, matches and arrivals are without the record; else they are shortly' }),
  })
  .meta({ id: 'ForgottenRecord', description: 'A record whose values are erased' })

export const forget = matchingOperation({
  summary: 'Forget a record: erase its values, and never store it again',
  method: 'POST',
  path: '/api/v2/entity_record/forget',
  input: z.strictObject({
    lens: shortText.meta({ description: 'Name of the lens' }),
    ...recordRef.shape,
    reason: withdrawalReason,
  }),
  output: tombstone,
  errors: ['not_found', 'wrong_state'],
  allow: 'resolution:forget',

  async run(call, { lens, reason, ...ref }) {
    const uid = recordUid(call.caller.tenant_id, lens, ref)
    call.nameTarget({ id: uid })
    const before = await call.store(entityRecords).get(uid)
    const forgotten = isForgotten(before.value) ? before : await forgetRecord(call, before, reason)
    if (isRefusal(forgotten)) return forgotten
    call.wake('recluster')
    return showTombstone(await waitForDocument(call, entityRecords, forgotten, recordTopic(uid), isSettled))
  },
})

function isForgotten({ withdrawn }: StoredRecord): boolean {
  return withdrawn?.kind === 'forgotten'
}

function isSettled({ erasing }: StoredRecord): boolean {
  return erasing !== 'registry'
}

async function forgetRecord(call: Call, { id, value }: Doc<StoredRecord>, reason: string) {
  const refused: Refusal | undefined = await refuseOpenWork(call, value)
  if (refused) return refused
  const withdrawn = { kind: 'forgotten' as const, at: call.nowIso(), by: call.caller.subject, reason }
  return await writeNumbered(call, value, async (written) => {
    const { doc } = await call.store(entityRecords).update(id, ({ value: current }) => {
      const next = withdrawRecord(current, withdrawn, written)
      if (next === current) return { answer: undefined }
      const { lens, ref } = current
      return { next, answer: undefined, audit: [call.audited(call.address, id, { lens, ref, reason }, current.label)] }
    })
    return doc
  })
}

function showTombstone({ id, value }: Doc<StoredRecord>): z.infer<typeof tombstone> {
  const { label: classification, lens, ref, withdrawn } = value
  if (withdrawn?.kind !== 'forgotten') throw new Error(`the record ${id} is not forgotten`)
  const { at: forgotten_at, by: forgotten_by, reason } = withdrawn
  return { uid: id, classification, lens, ref, forgotten_at, forgotten_by, reason, settled: isSettled(value) }
}
