// Begins a session: checks that it may cross to the invited peers, stores it, and queues their invitations.

import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { checkCrossing } from '../../../shared/label-crossing/label-crossing.ts'
import { announceChange } from './announce-change.ts'
import { buildSession } from './build-session.ts'
import { type StoredSession, sessions } from './model.ts'
import { addToOutbox, enterState } from './transition/rules.ts'

type BeginSessionInput = Pick<
  StoredSession,
  'id' | 'tenant_id' | 'label' | 'lens_id' | 'lens_version' | 'policy' | 'subject'
> & {
  readonly invite: readonly string[]
}

/** A repeated request returns the session that it created. Refuses `label_denied`, `not_found`, `idempotency_mismatch`. */
export async function beginSession(
  call: Call,
  { invite, ...fields }: BeginSessionInput,
): Promise<Doc<StoredSession> | Refusal> {
  const { id, lens_id, label } = fields
  const invited = [...new Set(invite)]
  const refused = await checkInvitations(call, invited, label)
  if (refused) return refused
  const at = call.nowIso()
  const opened = invitePeers(buildLocalSession(call, at, { ...fields, invited }), at)
  const audit = [call.audited(call.address, id, { lens_id, invited }, label)]
  const made = await call.store(sessions).create(id, opened, audit)
  if (made === 'exists') return findRepeatedSession(call, id)
  announceChange(call, made, true)
  return made
}

type BeginSessionFields = Omit<BeginSessionInput, 'invite'> & Pick<StoredSession, 'invited'>

function buildLocalSession(call: Call, at: string, fields: BeginSessionFields): StoredSession {
  const created_by = call.caller.subject
  const opened = buildSession({ ...fields, created_by, created_at: at, request_digest: call.requestDigest() })
  const { deadline } = fields.policy
  return deadline ? { ...opened, deadline_ts: Date.parse(deadline) } : opened
}

function invitePeers(opened: StoredSession, at: string): StoredSession {
  const { id, lens_id, lens_version, subject, policy, label, created_by } = opened
  const proposed = enterState(opened, 'PROPOSED', 'create', created_by, at)
  const body = { session_id: id, lens_id, lens_version, ...(subject ? { subject } : {}), policy, classification: label }
  return addToOutbox(
    proposed,
    opened.invited.map((peer) => ({ type: 'message', id: `invitation:${peer}`, peer, kind: 'invitation', body })),
  )
}

async function checkInvitations(call: Call, invited: readonly string[], label: Label): Promise<Refusal | undefined> {
  for (const peer of invited) {
    const refused = await checkCrossing(call, peer, label)
    if (refused) return refused
  }
  return undefined
}

async function findRepeatedSession(call: Call, id: string): Promise<Doc<StoredSession> | Refusal> {
  const before = await call.store(sessions).get(id)
  if (before.value.request_digest !== call.requestDigest()) {
    return refuse('idempotency_mismatch', 'the idempotency key was used with another request; use a new key')
  }
  return before
}
