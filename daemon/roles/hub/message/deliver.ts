// Takes a message for another node: it is durable here once this answers, and the same message again changes nothing.
import * as z from 'zod'
import { mail } from '../../../kernel/coalition.ts'
import { isRefused } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { siteName } from '../../../kernel/transport.ts'
import { messageTotal } from '../metrics.ts'
import { ownNode } from '../node/acting.ts'
import { nodes } from '../node/model.ts'
import { settings } from '../settings.ts'
import { mailboxes, type StoredMail } from './model.ts'
import { bytesOf, filling, mailId, placeOf, roomFor, sizeFault } from './rules.ts'

const day_ms = 86_400_000

export const topicOf = (receiver: string) => `hub.mail/${receiver}`

export const deliver = operation({
  summary: 'Deliver a message to a node',
  method: 'POST',
  path: '/api/v2/hub/node/{id}/message',
  input: mail.extend({ id: siteName, from: siteName.meta({ description: 'The node that sends it' }) }),
  output: z.strictObject({ id: z.string() }).meta({ id: 'DeliveredMail' }),
  status: 202,
  errors: ['not_found', 'rate_limited'],
  allow: 'hub:node',
  max_body_bytes: 16 * 1_048_576,

  async run(call, { id: receiver, from: sender, ...given }) {
    const own = await ownNode(call, sender)
    if (isRefused(own)) return own
    await call.store(nodes).get(receiver)
    const { max_message_bytes, mailbox_messages, mailbox_bytes, message_days } = call.settings(settings)
    const bytes = bytesOf(given)
    const tooLarge = sizeFault(bytes, max_message_bytes)
    if (tooLarge) return tooLarge
    const { tenant_id } = call.caller
    const id = mailId(tenant_id, receiver, sender, given)
    if (await call.store(mailboxes).find(id)) return { id }
    const held = filling(await call.store(mailboxes).countBy('bytes', { receiver, sender }))
    const full = roomFor(bytes, held, { messages: mailbox_messages, bytes: mailbox_bytes })
    if (full) {
      call.count(messageTotal, { outcome: 'full' })
      return full
    }
    const { epoch, seq } = given
    const stored: StoredMail = {
      ...{ tenant_id, receiver, sender, ...given, place: placeOf(given), bytes },
      arrived_at: call.nowIso(),
      expires_ts: call.now() + message_days * day_ms,
    }
    const audit = [call.audited('hub.message.deliver', id, { receiver, sender, epoch, seq, bytes })]
    const made = await call.store(mailboxes).create(id, stored, audit)
    if (made !== 'exists') call.count(messageTotal, { outcome: 'delivered' })
    call.announce(topicOf(receiver))
    return { id }
  },
})
