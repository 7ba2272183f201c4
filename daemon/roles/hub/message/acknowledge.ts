// A node has these on its own disk: they are removed. Those that are gone, or are another's, are passed over.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { isRefused } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { siteName } from '../../../kernel/transport.ts'
import { messageTotal } from '../metrics.ts'
import { ownNode } from '../node/acting.ts'
import { mailboxes } from './model.ts'

export const acknowledge = operation({
  summary: 'Acknowledge messages that a node has taken',
  method: 'POST',
  path: '/api/v2/hub/node/{id}/acknowledgement',
  input: z.strictObject({ id: siteName, messages: z.array(z.string().min(1).max(128)).min(1).max(64) }),
  output: z.strictObject({ removed: z.int().min(0) }).meta({ id: 'Acknowledged' }),
  errors: ['not_found'],
  allow: 'hub:node',

  async run(call, { id, messages }) {
    const own = await ownNode(call, id)
    if (isRefused(own)) return own
    let removed = 0
    for (const message of new Set(messages)) if (await remove(call, id, message)) removed += 1
    if (removed > 0) call.count(messageTotal, { outcome: 'acknowledged' }, removed)
    return { removed }
  },
})

async function remove(call: Call, receiver: string, id: string): Promise<boolean> {
  const found = await call.store(mailboxes).find(id)
  if (found?.value.receiver !== receiver) return false
  const { sender, epoch, seq } = found.value
  const audit = [call.audited('hub.message.acknowledge', id, { receiver, sender, epoch, seq })]
  try {
    await call.store(mailboxes).remove(id, audit)
    return true
  } catch (error) {
    // Another acknowledgement of it, or its end, came between.
    if (isRefused(error) && error.code === 'not_found') return false
    throw error
  }
}
