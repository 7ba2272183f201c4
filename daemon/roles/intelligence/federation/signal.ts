// Accepts a signal of a peer: only signed, once for each id of the peer, with the label of the message.
import * as z from 'zod'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import {
  checkAddressee,
  federationMessage,
  max_message_bytes,
  openFederationMessage,
} from '../../../shared/federation-message/federation-message.ts'
import { uid } from '../fields.ts'
import { countIntake } from '../signal-intake/metrics.ts'
import { requestRaise } from '../signal-intake/request-raise.ts'
import { signalMessage, signalSchema } from './model.ts'

export const takeSignal = operation({
  summary: 'Accept a signal of a peer',
  method: 'POST',
  path: '/api/v1/federation/signal',
  input: federationMessage,
  output: z.strictObject({ uid }).meta({ id: 'SignalTaken' }),
  errors: ['signature_invalid', 'not_your_tenant', 'label_denied', 'idempotency_mismatch'],
  allow: 'federation:deliver',
  max_body_bytes: max_message_bytes,

  async run(call, message) {
    const done = await acceptSignal(call, message)
    if (isRefusal(done)) countIntake(call, 'peer', 'refused')
    return done
  },
})

async function acceptSignal(call: Call, message: z.output<typeof federationMessage>) {
  const sent = await openFederationMessage(call, message, 'signal', signalMessage)
  if (isRefusal(sent)) return sent
  const { statement, label, data } = sent
  const refused = checkAddressee(call, statement)
  if (refused) return refused
  if (statement.body.schema !== signalSchema) return refuse('invalid', `the body is not of the schema ${signalSchema}`)
  const { event_id, source, ...fields } = data
  // In its own name: who brings it need not be one who sees what is known already.
  const done = await requestRaise(call, {
    ...{ origin: `peer:${statement.src}`, key: event_id, tenant_id: statement.receiver_tenant_id, label, source },
    digest: canonicalDigest({ data, label }),
    fields: { ...fields, actor: { type: 'service', id: statement.src, name: statement.sender_tenant_id } },
  })
  if (isRefusal(done)) return done
  countIntake(call, 'peer', done.is_new ? 'taken' : 'repeated')
  return { uid: done.uid }
}
