// Takes a peer's invitation: a copy of its session appears here, to contribute to and to follow.
import * as z from 'zod'
import { digestOf } from '../../../kernel/canonical.ts'
import { isRefused, refuse } from '../../../kernel/errors.ts'
import { label } from '../../../kernel/label.ts'
import { operation } from '../../../kernel/operation.ts'
import { quorumPolicy } from '../combine/policy.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import { type StoredSession, session, sessions, subject } from '../session/model.ts'
import { enter } from '../session/rules.ts'
import { tell } from '../session/tell.ts'
import { shown } from '../session/view.ts'
import { message, verified } from './message.ts'

const word = z.string().min(1).max(256)

export const invite = operation({
  summary: 'Accept a peer’s invitation to contribute to its session',
  method: 'POST',
  path: '/api/v2/federation/invitation',
  input: z.strictObject({
    session_id: z.string().min(1).max(128),
    lens_id: word,
    lens_version: word,
    subject: subject.optional(),
    policy: quorumPolicy,
    classification: label,
    message,
  }),
  output: session,
  errors: ['signature_invalid', 'not_your_tenant', 'already_exists'],
  allow: 'federation:deliver',
  max_body_bytes: 6 * 1_048_576,

  async run(call, { message: carrier, ...fields }) {
    const sent = await verified(call, carrier, 'invitation', fields)
    if (isRefused(sent)) return sent
    const { src, sender_tenant_id, receiver_tenant_id } = sent.statement
    if (receiver_tenant_id !== call.site.tenant_id)
      return refuse('not_your_tenant', 'the invitation is for another tenant')
    const { session_id: id, classification, subject: about, ...asked } = fields
    const at = call.nowIso()
    const invited: StoredSession = {
      ...asked,
      id,
      tenant_id: receiver_tenant_id,
      label: classification,
      created_by: `peer:${src}`,
      created_at: at,
      updated_at: at,
      request_digest: digestOf(fields),
      ...(about ? { subject: about } : {}),
      state: 'PROPOSED',
      contributions: 0,
      contributors: 0,
      pages: 0,
      recent: [],
      chain: digestOf(id),
      history: [],
      invited: [],
      origin: { peer: src, tenant_id: sender_tenant_id },
      pending: [],
      owes: 0,
    }
    const audit = [lifecycleEvent(call, 'consensus.federation.invite', invited, { peer: src })]
    const made = await call
      .store(sessions)
      .create(id, enter(invited, 'PROPOSED', 'invitation', `peer:${src}`, at), audit)
    if (made !== 'exists') {
      tell(call, made, true)
      return shown(made)
    }
    const before = await call.store(sessions).get(id)
    const same = before.value.origin?.peer === src && before.value.request_digest === invited.request_digest
    return same ? shown(before) : refuse('already_exists', 'another session has this id')
  },
})
