// Opens a consensus session for the caller's tenant, and invites the peers that it names.
import type { Call } from '../../../kernel/call.ts'
import { digestOf } from '../../../kernel/canonical.ts'
import { type Refused, refuse } from '../../../kernel/errors.ts'
import { dominates, type Label, labelOf } from '../../../kernel/label.ts'
import { operation } from '../../../kernel/operation.ts'
import { type StoredSession, session, sessionInput, sessions } from './model.ts'
import { enter, owing } from './rules.ts'
import { tell } from './tell.ts'
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
    const label = labelOf(classification, call.site.labels, call.caller.tenant_id)
    if (!label)
      return refuse('invalid', 'the classification is not of this site’s policy', [
        { path: 'classification', message: 'unknown policy or level' },
      ])
    if (!dominates(call.caller, label, call.site.labels))
      return refuse('label_denied', 'the classification is above the caller’s clearance')
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
  const { subject, policy, ...rest } = asked
  return {
    ...rest,
    id,
    tenant_id: call.caller.tenant_id,
    created_by: call.caller.subject,
    created_at: at,
    updated_at: at,
    request_digest: call.requestDigest(),
    ...(subject ? { subject } : {}),
    policy,
    state: 'PROPOSED',
    contributions: 0,
    contributors: 0,
    pages: 0,
    recent: [],
    chain: digestOf(id),
    history: [],
    pending: [],
    owes: 0,
    ...(policy.deadline ? { deadline_ts: Date.parse(policy.deadline) } : {}),
  }
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
    const refused = await call.mayCross(peer, label)
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
