// Accepts a peer's invitation: creates a copy of its session, to contribute to and to follow.
import * as z from 'zod'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { refuse } from '../../../kernel/error/errors.ts'
import { label } from '../../../kernel/label/label.ts'
import { checkAddressee } from '../../../shared/federation-message/federation-message.ts'
import { federationOperation } from '../../../shared/federation-message/federation-operation.ts'
import { sessionSubject } from '../../../shared/match-session/match-session.ts'
import { sessionId } from '../../../shared/match-session/session-id.ts'
import { checkOriginId } from '../../../shared/origin-id/check-origin-id.ts'
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
  readObjectId: ({ session_id }) => session_id,
  errors: ['not_found', 'signature_invalid', 'not_your_tenant', 'label_denied', 'already_exists'],

  async run(call, sent) {
    const refusal =
      checkAddressee(call, sent.statement) ?? (await checkOriginId(call, sent.statement.src, sent.data.session_id))
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
    const copy = {
      ...buildSession(fields),
      origin: { peer: src, tenant_id: sender_tenant_id },
      invitation_label: classification,
    }
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
