// Notifies a node that messages wait for it; the node then lists them, so that a lost notification loses no message.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { changesUntilExpiry } from '../../../kernel/operation/changes-until-expiry.ts'
import { operation, RawResponse, type ServerEvent } from '../../../kernel/operation/operation.ts'
import { loadOwnNode } from '../node/load-own-node.ts'
import { idInput } from '../node/model.ts'
import { mailboxes } from './model.ts'
import { mailTopic } from './rules.ts'

/** Also the longest time that a stream outlives its token, and how often messages that still wait are announced again. */
const notify_interval_ms = 5_000

const mailWaiting = z.strictObject({ waiting: z.int().min(0) }).meta({ id: 'MailWaiting' })

export const events = operation({
  summary: 'Stream notifications of messages that wait for a node as server-sent events',
  method: 'GET',
  path: '/api/v2/hub/node/{id}/message/events',
  input: idInput,
  output: mailWaiting,
  errors: ['not_found', 'rate_limited'],
  allow: 'hub:node',
  produces: ['text/event-stream'],
  streams: true,

  async run(call, { id }) {
    const node = await loadOwnNode(call, id)
    return isRefusal(node) ? node : new RawResponse('text/event-stream', streamWaiting(call, id))
  },
})

/** The first event comes at once, also for an empty mailbox: it shows the node that the stream works. */
async function* streamWaiting(call: Call, id: string): AsyncIterable<ServerEvent> {
  let sent = 0
  for await (const _ of changesUntilExpiry(call, mailTopic(id), notify_interval_ms)) {
    const count = await call.store(mailboxes).count({ receiver: id })
    if (count === 0 && sent > 0) continue
    sent += 1
    yield { id: String(sent), event: 'mail', data: { waiting: count } }
  }
}
