// A signal of a peer: taken only as signed, once for the peer's own id, under the label that it came with.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { digestOf } from '../../../kernel/canonical.ts'
import { isRefused, refuse } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { federationMessage, max_message_bytes, misaddressed, opened } from '../../../shared/federation-message.ts'
import { uid } from '../fields.ts'
import { counted } from '../intake/metrics.ts'
import { orRefused, raise, raisedSignal } from '../intake/raise.ts'
import { sentSignal, signalSchema } from './model.ts'

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
    const done = await taken(call, message)
    if (isRefused(done)) counted(call, 'peer', 'refused')
    return done
  },
})

async function taken(call: Call, message: z.output<typeof federationMessage>) {
  const sent = await opened(call, message, 'signal', sentSignal)
  if (isRefused(sent)) return sent
  const { statement, label, data } = sent
  const refused = misaddressed(call, statement)
  if (refused) return refused
  if (statement.body.schema !== signalSchema) return refuse('invalid', `the body is not of the schema ${signalSchema}`)
  const { event_id, source, ...fields } = data
  // In its own name: who brings it need not be one who sees what is known already.
  const answer = await orRefused(
    call.others.ask(raise, {
      ...{ origin: `peer:${statement.src}`, key: event_id, tenant_id: statement.receiver_tenant_id, label, source },
      digest: digestOf({ data, label }),
      fields: { ...fields, actor: { type: 'service', id: statement.src, name: statement.sender_tenant_id } },
    }),
  )
  if (isRefused(answer)) return answer
  const done = raisedSignal.parse(answer)
  counted(call, 'peer', done.is_new ? 'taken' : 'repeated')
  return { uid: done.uid }
}
