// Accepts a signed signal of a peer, once for each id of the peer, with the label of the message.
import * as z from 'zod'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import {
  checkAddressee,
  type VerifiedFederationMessage,
} from '../../../shared/federation-message/federation-message.ts'
import { federationOperation } from '../../../shared/federation-message/federation-operation.ts'
import { uid } from '../fields.ts'
import { countIntake } from '../signal-intake/metrics.ts'
import { requestRaise } from '../signal-intake/request-raise.ts'
import { signalMessage, signalSchema } from './model.ts'

const acceptSignal = federationOperation({
  summary: 'Accept a signal of a peer',
  path: '/api/v1/federation/signal',
  kind: 'signal',
  data: signalMessage,
  output: z.strictObject({ uid }).meta({ id: 'SignalTaken' }),
  errors: ['not_found', 'signature_invalid', 'not_your_tenant', 'label_denied', 'idempotency_mismatch'],
  readObjectId: ({ event_id }) => event_id,
  run: raisePeerSignal,
})

/** Counts the refusals too, those of the verification included. */
export const takeSignal = operation({
  ...acceptSignal,
  async run(call, message) {
    const result = await acceptSignal.run(call, message)
    if (isRefusal(result)) countIntake(call, 'peer', 'refused')
    return result
  },
})

async function raisePeerSignal(
  call: Call,
  { statement, label, data }: VerifiedFederationMessage<z.output<typeof signalMessage>>,
) {
  const refusal = checkAddressee(call, statement)
  if (refusal) return refusal
  if (statement.body.schema !== signalSchema) return refuse('invalid', `the schema of the body is not ${signalSchema}`)
  const { event_id, source, ...fields } = data
  // Raised in the name of the role: the carrier's service need not be cleared for an existing signal.
  const result = await requestRaise(call, {
    ...{ origin: `peer:${statement.src}`, key: event_id, tenant_id: statement.receiver_tenant_id, label, source },
    digest: canonicalDigest({ data, label }),
    fields: { ...fields, actor: { type: 'service', id: statement.src, name: statement.sender_tenant_id } },
  })
  if (isRefusal(result)) return result
  countIntake(call, 'peer', result.is_new ? 'taken' : 'repeated')
  return { uid: result.uid }
}
