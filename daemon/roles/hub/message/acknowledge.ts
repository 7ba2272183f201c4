// Removes messages that a node has stored. Ids of removed messages, or of another node's, are ignored.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { siteName } from '../../../kernel/messaging/statement.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { messageTotal } from '../metrics.ts'
import { loadOwnNode } from '../node/load-own-node.ts'
import { mailboxes } from './model.ts'

export const acknowledge = operation({
  summary: 'Acknowledge messages that a node has stored',
  method: 'POST',
  path: '/api/v2/hub/node/{id}/acknowledgement',
  input: z.strictObject({ id: siteName, messages: z.array(z.string().min(1).max(128)).min(1).max(64) }),
  output: z.strictObject({ removed: z.int().min(0) }).meta({ id: 'Acknowledged' }),
  errors: ['not_found'],
  allow: 'hub:node',

  async run(call, { id, messages }) {
    const own = await loadOwnNode(call, id)
    if (isRefusal(own)) return own
    let removed = 0
    for (const message of new Set(messages)) if (await removeMail(call, id, message)) removed += 1
    if (removed > 0) call.count(messageTotal, { outcome: 'acknowledged' }, removed)
    return { removed }
  },
})

async function removeMail(call: Call, receiver: string, id: string): Promise<boolean> {
  const found = await call.store(mailboxes).find(id)
  if (found?.value.receiver !== receiver) return false
  const { sender, epoch, seq } = found.value
  const audit = [call.audited('hub.message.acknowledge', id, { receiver, sender, epoch, seq })]
  try {
    await call.store(mailboxes).remove(id, audit)
    return true
  } catch (error) {
    // Another acknowledgement, or its expiry, removed it first.
    if (isRefusal(error) && error.code === 'not_found') return false
    throw error
  }
}
