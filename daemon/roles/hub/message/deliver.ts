// Accepts a message for another node; it is durable at the hub once this answers, and a repeat changes nothing.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { siteName } from '../../../kernel/messaging/statement.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { hubMessage } from '../../../shared/coalition/hub-protocol.ts'
import { messageTotal } from '../metrics.ts'
import { loadOwnNode } from '../node/load-own-node.ts'
import { nodes } from '../node/model.ts'
import { settings } from '../settings.ts'
import { mailboxes, type StoredMail } from './model.ts'
import { bytesOf, checkMailboxRoom, checkMessageSize, mailId, mailTopic, sortKeyOf, sumUsage } from './rules.ts'

const day_ms = 86_400_000

export const deliver = operation({
  summary: 'Deliver a message to a node',
  method: 'POST',
  path: '/api/v2/hub/node/{id}/message',
  input: hubMessage.extend({ id: siteName, from: siteName.meta({ description: 'The node that sends it' }) }),
  output: z.strictObject({ id: z.string() }).meta({ id: 'DeliveredMail' }),
  status: 202,
  errors: ['not_found', 'rate_limited'],
  allow: 'hub:node',
  max_body_bytes: 16 * 1_048_576,

  async run(call, { id: receiver, from: sender, ...message }) {
    const own = await loadOwnNode(call, sender)
    if (isRefusal(own)) return own
    await call.store(nodes).get(receiver)
    const { max_message_bytes, mailbox_messages, mailbox_bytes, message_days } = call.settings(settings)
    const bytes = bytesOf(message)
    const tooLarge = checkMessageSize(bytes, max_message_bytes)
    if (tooLarge) return tooLarge
    const { tenant_id } = call.caller
    const id = mailId(tenant_id, receiver, sender, message)
    if (await call.store(mailboxes).find(id)) return { id }
    const usage = sumUsage(await call.store(mailboxes).countBy('bytes', { receiver, sender }))
    const full = checkMailboxRoom(bytes, usage, { messages: mailbox_messages, bytes: mailbox_bytes })
    if (full) {
      call.count(messageTotal, { outcome: 'full' })
      return full
    }
    const { epoch, seq } = message
    const stored: StoredMail = {
      ...{ tenant_id, receiver, sender, ...message, place: sortKeyOf(message), bytes },
      arrived_at: call.nowIso(),
      expires_ts: call.now() + message_days * day_ms,
    }
    const audit = [call.audited('hub.message.deliver', id, { receiver, sender, epoch, seq, bytes })]
    const made = await call.store(mailboxes).create(id, stored, audit)
    if (made !== 'exists') call.count(messageTotal, { outcome: 'delivered' })
    call.announce(mailTopic(receiver))
    return { id }
  },
})
