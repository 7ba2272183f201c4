// Opens a consensus session for the caller's tenant, and invites the peers that it names.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { Label } from '../../../kernel/label.ts'
import { labelFor } from '../../../kernel/labelling.ts'
import { operation } from '../../../kernel/operation.ts'
import { type StoredSession, session, sessionInput, sessions } from './model.ts'
import { openSession } from './opening.ts'
import { tell } from './tell.ts'
import { enter, owing } from './transition/rules.ts'
import { shown } from './view.ts'

export const create = operation({
  summary: 'Create a consensus session',
  method: 'POST',
  path: '/api/v2/consensus/session',
  tool: 'consensus_session_create',
  input: sessionInput,
  output: session,
  status: 201,
  errors: ['label_denied', 'idempotency_mismatch', 'not_found'],
  allow: 'consensus:write',
  creates: true,
  versioned: true,

  async run(call, { classification, invite, ...asked }) {
    const label = labelFor(call, classification)
    if (isRefused(label)) return label
    const invited = [...new Set(invite)]
    const refused = await mayInvite(call, invited, label)
    if (refused) return refused
    const id = call.newId('ses')
    const at = call.nowIso()
    const opened = invitePeers(open(call, id, at, { ...asked, label, invited }), at)
    const audit = [call.audited('consensus.session.create', id, { lens_id: asked.lens_id, invited }, label)]
    const made = await call.store(sessions).create(id, opened, audit)
    if (made === 'exists') return repeated(call, id)
    tell(call, made, true)
    return shown(made)
  },
})

type Asked = Pick<StoredSession, 'lens_id' | 'lens_version' | 'policy' | 'subject' | 'label' | 'invited'>

function open(call: Call, id: string, at: string, asked: Asked): StoredSession {
  const { tenant_id, subject: created_by } = call.caller
  const opened = openSession({
    ...asked,
    id,
    tenant_id,
    created_by,
    created_at: at,
    request_digest: call.requestDigest(),
  })
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

async function repeated(call: Call, id: string) {
  const before = await call.store(sessions).get(id)
  if (before.value.request_digest !== call.requestDigest()) {
    return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
  }
  return shown(before)
}
