// Accepts a peer's invitation: creates a copy of its session, to contribute to and to follow.
import * as z from 'zod'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { checkAddressee } from '../../../shared/federation-message/federation-message.ts'
import { federationOperation } from '../../../shared/federation-message/federation-operation.ts'
import { sessionSubject } from '../../../shared/match-session/match-session.ts'
import { isReservedFor, sessionId } from '../../../shared/match-session/session-id.ts'
import { listPinnedPeers } from '../../../shared/pinned-peers/pinned-peers.ts'
import { quorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { shortText } from '../fields.ts'
import { announceChange } from '../session/announce-change.ts'
import { buildSession } from '../session/build-session.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import { session, sessions } from '../session/model.ts'
import { enterState } from '../session/transition/rules.ts'
import { showSession } from '../session/view.ts'

/** The data of an `invitation` message. */
const invitation = z.strictObject({
  session_id: sessionId,
  lens_id: shortText,
  lens_version: shortText,
  subject: sessionSubject.optional(),
  policy: quorumPolicy,
  classification: label,
})

export const invite = federationOperation({
  summary: 'Accept a peer’s invitation to contribute to its session',
  path: '/api/v2/federation/invitation',
  kind: 'invitation',
  data: invitation,
  output: session,
  errors: ['signature_invalid', 'not_your_tenant', 'label_denied', 'already_exists'],

  async run(call, sent) {
    const refusal =
      checkAddressee(call, sent.statement) ?? (await checkSessionId(call, sent.statement.src, sent.data.session_id))
    if (refusal) return refusal
    const { src, sender_tenant_id, receiver_tenant_id: tenant_id } = sent.statement
    const { session_id: id, classification, ...proposed } = sent.data
    const by = `peer:${src}`
    const created_at = call.nowIso()
    const request_digest = canonicalDigest(sent.data)
    const fields = {
      ...proposed,
      id,
      tenant_id,
      label: classification,
      created_by: by,
      created_at,
      request_digest,
      invited: [],
    }
    const copy = { ...buildSession(fields), origin: { peer: src, tenant_id: sender_tenant_id } }
    const audit = [lifecycleEvent(call, 'consensus.federation.invite', copy, { peer: src })]
    const outcome = await call
      .store(sessions)
      .create(id, enterState(copy, 'PROPOSED', 'invitation', by, created_at), audit)
    if (outcome !== 'exists') {
      announceChange(call, outcome, true)
      return showSession(outcome)
    }
    const before = await call.store(sessions).get(id)
    const isSame = before.value.origin?.peer === src && before.value.request_digest === request_digest
    return isSame ? showSession(before) : refuse('already_exists', 'another session has this id')
  },
})

/** Refuses an id that only this site or another peer may make: its session would find the id taken. */
async function checkSessionId(call: Call, src: string, session_id: string): Promise<Refusal | undefined> {
  const peers = await listPinnedPeers(call)
  const others = [call.site.name, ...peers.map(({ name }) => name)].filter((name) => name !== src)
  return others.some((site) => isReservedFor(site, session_id))
    ? refuse('invalid', `the id ${session_id} belongs to the sessions of another site than its sender`)
    : undefined
}
