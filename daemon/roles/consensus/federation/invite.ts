// Takes a peer's invitation: a copy of its session appears here, to contribute to and to follow.
import * as z from 'zod'
import { digestOf } from '../../../kernel/canonical.ts'
import { isRefused, refuse } from '../../../kernel/errors.ts'
import { label } from '../../../kernel/label.ts'
import { operation } from '../../../kernel/operation.ts'
import { quorumPolicy } from '../../../kernel/quorum-policy.ts'
import { federationMessage, max_message_bytes, misaddressed, opened } from '../../../shared/federation-message.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import { session, sessions, subject } from '../session/model.ts'
import { openSession } from '../session/opening.ts'
import { tell } from '../session/tell.ts'
import { enter } from '../session/transition/rules.ts'
import { shown } from '../session/view.ts'

const word = z.string().min(1).max(256)

/** The data of an `invitation` message. */
const invitation = z.strictObject({
  session_id: z.string().min(1).max(128),
  lens_id: word,
  lens_version: word,
  subject: subject.optional(),
  policy: quorumPolicy,
  classification: label,
})

export const invite = operation({
  summary: 'Accept a peer’s invitation to contribute to its session',
  method: 'POST',
  path: '/api/v2/federation/invitation',
  input: federationMessage,
  output: session,
  errors: ['signature_invalid', 'not_your_tenant', 'label_denied', 'already_exists'],
  allow: 'federation:deliver',
  max_body_bytes: max_message_bytes,

  async run(call, message) {
    const sent = await opened(call, message, 'invitation', invitation)
    if (isRefused(sent)) return sent
    const refused = misaddressed(call, sent.statement)
    if (refused) return refused
    const { src, sender_tenant_id, receiver_tenant_id: tenant_id } = sent.statement
    const { session_id: id, classification, ...asked } = sent.data
    const by = `peer:${src}`
    const created_at = call.nowIso()
    const request_digest = digestOf(sent.data)
    const about = {
      ...asked,
      id,
      tenant_id,
      label: classification,
      created_by: by,
      created_at,
      request_digest,
      invited: [],
    }
    const copy = { ...openSession(about), origin: { peer: src, tenant_id: sender_tenant_id } }
    const audit = [lifecycleEvent(call, 'consensus.federation.invite', copy, { peer: src })]
    const made = await call.store(sessions).create(id, enter(copy, 'PROPOSED', 'invitation', by, created_at), audit)
    if (made !== 'exists') {
      tell(call, made, true)
      return shown(made)
    }
    const before = await call.store(sessions).get(id)
    const isSame = before.value.origin?.peer === src && before.value.request_digest === request_digest
    return isSame ? shown(before) : refuse('already_exists', 'another session has this id')
  },
})
