// A session from its first word: the peers may be told of it, it is stored, and they are owed their invitations.
import type { Call } from '../../../kernel/call.ts'
import { type Refused, refuse } from '../../../kernel/errors.ts'
import type { Label } from '../../../kernel/label.ts'
import type { Doc } from '../../../kernel/store.ts'
import { type StoredSession, sessions } from './model.ts'
import { openSession } from './opening.ts'
import { tell } from './tell.ts'
import { enter, owing } from './transition/rules.ts'

type Begun = Pick<StoredSession, 'id' | 'tenant_id' | 'label' | 'lens_id' | 'lens_version' | 'policy' | 'subject'> & {
  readonly invite: readonly string[]
}

/** The same request again finds the session that it made. Refuses `label_denied`, `not_found`, `idempotency_mismatch`. */
export async function beginSession(call: Call, { invite, ...asked }: Begun): Promise<Doc<StoredSession> | Refused> {
  const { id, lens_id, label } = asked
  const invited = [...new Set(invite)]
  const refused = await mayInvite(call, invited, label)
  if (refused) return refused
  const at = call.nowIso()
  const opened = invitePeers(open(call, at, { ...asked, invited }), at)
  const audit = [call.audited(call.address, id, { lens_id, invited }, label)]
  const made = await call.store(sessions).create(id, opened, audit)
  if (made === 'exists') return repeated(call, id)
  tell(call, made, true)
  return made
}

type Asked = Omit<Begun, 'invite'> & Pick<StoredSession, 'invited'>

function open(call: Call, at: string, asked: Asked): StoredSession {
  const created_by = call.caller.subject
  const opened = openSession({ ...asked, created_by, created_at: at, request_digest: call.requestDigest() })
  const { deadline } = asked.policy
  return deadline ? { ...opened, deadline_ts: Date.parse(deadline) } : opened
}

function invitePeers(opened: StoredSession, at: string): StoredSession {
  const { id, lens_id, lens_version, subject, policy, label, created_by } = opened
  const proposed = enter(opened, 'PROPOSED', 'create', created_by, at)
  const body = { session_id: id, lens_id, lens_version, ...(subject ? { subject } : {}), policy, classification: label }
  return owing(
    proposed,
    opened.invited.map((peer) => ({ type: 'message', id: `invitation:${peer}`, peer, kind: 'invitation', body })),
  )
}

async function mayInvite(call: Call, invited: readonly string[], label: Label): Promise<Refused | undefined> {
  for (const peer of invited) {
    const refused = await call.others.mayCross(peer, label)
    if (refused) return refused
  }
  return undefined
}

async function repeated(call: Call, id: string): Promise<Doc<StoredSession> | Refused> {
  const before = await call.store(sessions).get(id)
  if (before.value.request_digest !== call.requestDigest()) {
    return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
  }
  return before
}
