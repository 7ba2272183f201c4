// Pauses or resumes the curator of the caller's tenant, with an audit record that is kept without end.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { artifact_topic, follow_up_worker } from '../artifact/follow-up.ts'
import { describeAction } from '../audit/describe-action.ts'
import type { AuditEntry, ChangeGround } from '../audit/entry.ts'
import { storeAudit } from '../audit/store-audit.ts'
import { curatorId, curators, type StoredCurator } from './model.ts'

/** One that is in this state already stays as it is, without a record. */
export async function setPaused(call: Call, is_paused: boolean, ground: ChangeGround): Promise<Doc<StoredCurator>> {
  const { tenant_id } = call.caller
  const store = call.store(curators)
  const id = curatorId(tenant_id)
  const known = await store.find(id)
  const entry = buildEntry(is_paused, ground, call.now())
  const audit = [call.audited(`gateway.guide.curator.${is_paused ? 'paused' : 'resumed'}`, id, {})]
  const doc = known
    ? await replace(call, known, entry, audit)
    : is_paused
      ? await store.create(id, buildCurator(tenant_id, undefined, entry), audit)
      : undefined
  if (doc === undefined) return { id, version: 0, value: buildCurator(tenant_id, undefined, entry) }
  if (doc === 'exists') return setPaused(call, is_paused, ground)
  // The worker repeats it where the store fails now.
  await recordPause(call, doc).catch((error: unknown) =>
    call.log.warn('gateway.guide.curator.record-delayed', { error: String(error) }),
  )
  call.wake(follow_up_worker)
  call.announce(artifact_topic)
  return doc
}

async function replace(
  call: Call,
  known: Doc<StoredCurator>,
  entry: AuditEntry,
  audit: ReturnType<Call['audited']>[],
): Promise<Doc<StoredCurator>> {
  const is_paused = entry.action === 'pause_curator'
  // The record of the former change would be replaced with it.
  await recordPause(call, known)
  const { doc, answer } = await call.store(curators).update(known.id, ({ value }) => {
    if (value.is_paused === is_paused) return { answer: 'same' }
    if (value.version !== known.value.version) return { answer: 'moved' }
    return { next: buildCurator(value.tenant_id, value, entry), answer: 'changed', audit }
  })
  return answer === 'moved' ? replace(call, doc, entry, audit) : doc
}

/** Repeats harmlessly. */
export async function recordPause(call: Call, { id, value }: Doc<StoredCurator>): Promise<void> {
  const { pending_audit, version } = value
  if (pending_audit) await storeAudit(call, `${id}.${version}`, pending_audit, value)
}

function buildCurator(tenant_id: string, before: StoredCurator | undefined, entry: AuditEntry): StoredCurator {
  const { at: now, actor, rationale } = entry
  return {
    tenant_id,
    uds: { timestamp: now, username: actor, visibility: 'tenant' },
    ...{ create_ts: before?.create_ts ?? now, update_ts: now, schema_version: 1 },
    ...{ is_paused: entry.action === 'pause_curator', version: (before?.version ?? 0) + 1, actor, rationale },
    ...{ pending_audit: entry, follow_up: true },
  }
}

function buildEntry(is_paused: boolean, ground: ChangeGround, now: number): AuditEntry {
  const effect = is_paused
    ? 'artifacts stay as they are, and are attached as before'
    : 'the curator and the evaluator change artifacts again'
  const subject = { verb: is_paused ? 'paused' : 'resumed', subject: 'The curator', effect }
  const { rationale = describeAction(subject, ground), ...grounds } = ground
  return { ...grounds, action: is_paused ? 'pause_curator' : 'resume_curator', rationale, at: now }
}
