// Begins a session: checks that it may cross to the invited peers, stores it, and queues their invitations.

import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { isCoveredBy } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { checkChannelTenant, checkCrossing } from '../../../shared/label-crossing/label-crossing.ts'
import { listPinnedPeers } from '../../../shared/pinned-peers/pinned-peers.ts'
import { announceChange } from './announce-change.ts'
import { buildSession } from './build-session.ts'
import { type StoredSession, sessions } from './model.ts'
import { addToOutbox, enterState } from './transition/rules.ts'

type BeginSessionInput = Pick<
  StoredSession,
  'id' | 'tenant_id' | 'label' | 'lens_id' | 'lens_version' | 'policy' | 'subject'
> & {
  readonly invite: readonly string[]
  readonly supersedes?: string | undefined
}

/** A repeated request returns the session that it created. Refuses `label_denied`, `not_your_tenant`, `not_found`, `wrong_state`, `idempotency_mismatch`. */
export async function beginSession(
  call: Call,
  { invite, supersedes, ...input }: BeginSessionInput,
): Promise<Doc<StoredSession> | Refusal> {
  const fields = { ...input, ...(supersedes === undefined ? {} : { supersedes }) }
  const { id, lens_id, label } = fields
  const invited = [...new Set(invite)]
  const refusal = (await checkSuperseded(call, fields)) ?? (await checkInvitations(call, invited, fields))
  if (refusal) return refusal
  const at = call.nowIso()
  const peer_tenants = await listTenants(call, invited)
  const proposed = invitePeers({ ...buildLocalSession(call, at, { ...fields, invited }), ...peer_tenants }, at)
  const audit = [call.audited(call.address, id, { lens_id, invited }, label)]
  const outcome = await call.store(sessions).create(id, proposed, audit)
  if (outcome === 'exists') return findRepeatedSession(call, id)
  announceChange(call, outcome, true)
  return outcome
}

type BeginSessionFields = Omit<BeginSessionInput, 'invite' | 'supersedes'> &
  Pick<StoredSession, 'invited' | 'supersedes'>

function buildLocalSession(call: Call, at: string, fields: BeginSessionFields): StoredSession {
  const created_by = call.caller.subject
  const proposed = buildSession({ ...fields, created_by, created_at: at, request_digest: call.requestDigest() })
  const { deadline } = fields.policy
  return deadline ? { ...proposed, deadline_ts: Date.parse(deadline) } : proposed
}

function invitePeers(session: StoredSession, at: string): StoredSession {
  const { id, lens_id, lens_version, subject, policy, label, created_by } = session
  const proposed = enterState(session, 'PROPOSED', 'create', created_by, at)
  const body = { session_id: id, lens_id, lens_version, ...(subject ? { subject } : {}), policy, classification: label }
  return addToOutbox(
    proposed,
    session.invited.map((peer) => ({ type: 'message', id: `invitation:${peer}`, peer, kind: 'invitation', body })),
  )
}

/**
 * Reads the superseded session as the caller may; it exists before this one, so that no session supersedes itself or one that
 * comes after it. Its label must not be wider than the new one: readers of the new evidence learn of the old.
 */
async function checkSuperseded(
  call: Call,
  { supersedes, tenant_id, label }: Pick<StoredSession, 'supersedes' | 'tenant_id' | 'label'>,
): Promise<Refusal | undefined> {
  if (supersedes === undefined) return undefined
  const superseded = (await call.store(sessions).find(supersedes))?.value
  if (superseded?.tenant_id !== tenant_id) return refuse('not_found', `there is no session ${supersedes} to supersede`)
  if (!isCoveredBy(superseded.label, label, call.site.labels))
    return refuse(
      'label_denied',
      `the label of ${supersedes} is not within that of the session that would supersede it`,
    )
  return superseded.decision === undefined
    ? refuse(
        'wrong_state',
        `${supersedes} is ${superseded.state}, and was never ratified; only evidence can be superseded`,
      )
    : undefined
}

async function checkInvitations(
  call: Call,
  invited: readonly string[],
  { tenant_id, label }: Pick<BeginSessionInput, 'tenant_id' | 'label'>,
): Promise<Refusal | undefined> {
  if (invited.length === 0) return undefined
  const outsider = checkChannelTenant(call, tenant_id)
  if (outsider) return outsider
  for (const peer of invited) {
    const refusal = await checkCrossing(call, peer, label)
    if (refusal) return refusal
  }
  return undefined
}

async function listTenants(call: Call, invited: readonly string[]): Promise<Pick<StoredSession, 'peer_tenants'>> {
  if (invited.length === 0) return {}
  const pinned = await listPinnedPeers(call)
  return { peer_tenants: pinned.flatMap(({ name, tenant_id }) => (invited.includes(name) ? tenant_id : [])) }
}

async function findRepeatedSession(call: Call, id: string): Promise<Doc<StoredSession> | Refusal> {
  const before = await call.store(sessions).get(id)
  if (before.value.request_digest !== call.requestDigest()) {
    return refuse('idempotency_mismatch', 'the idempotency key was used with another request; use a new key')
  }
  return before
}
