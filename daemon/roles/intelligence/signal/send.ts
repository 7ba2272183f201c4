// Sends a signal to a peer, if its label permits. The message is durable at the site's transport before the response.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { checkChannelTenant, checkCrossing } from '../../../shared/label-crossing/label-crossing.ts'
import { sendMessage } from '../../../shared/site-message/site-message.ts'
import { type SignalMessage, signalSchema } from '../federation/model.ts'
import { shortText, uid } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { type StoredSignal, signals } from './model.ts'

export const send = operation({
  summary: 'Send a signal to a peer, if its label permits',
  method: 'POST',
  ...objectPaths('signal', '/{uid}/send'),
  input: z.strictObject({ uid, peer: shortText.max(64) }),
  output: z.strictObject({ uid, peer: shortText, event_id: z.string() }).meta({ id: 'SignalSent' }),
  status: 202,
  errors: ['not_found', 'not_your_tenant', 'label_denied', 'unavailable'],
  allow: 'intelligence:send',

  async run(call, { uid: id, peer }) {
    // Requires the access of a change, though it changes nothing: the signal becomes visible at another site.
    const { doc } = await call.store(signals).update(id, () => ({ answer: undefined }))
    const { value } = doc
    const refusal = checkChannelTenant(call, value.tenant_id) ?? (await checkCrossing(call, peer, value.label))
    if (isRefusal(refusal)) return refusal
    const body = buildSignalMessage(id, value)
    await call.record([call.audited(call.address, id, { peer }, value.label)])
    const { event_id } = body
    const sent = { event_id: `signal:${event_id}`, kind: 'signal', schema: signalSchema, label: value.label } as const
    await sendMessage(call, { peer, ...sent, body, parent_block_ids: [] })
    return { uid: id, peer, event_id }
  },
})

/** The content of the signal, without its history and without the people and insights of this site. */
function buildSignalMessage(id: string, value: StoredSignal): SignalMessage {
  const { signal_type, severity, title, description, subject, detected_at, expires_at, confidence, source } = value
  return {
    ...{ event_id: id, signal_type, severity, title, subject, detected_at, expires_at, source },
    ...(description === undefined ? {} : { description }),
    ...(confidence === undefined ? {} : { confidence }),
  }
}
