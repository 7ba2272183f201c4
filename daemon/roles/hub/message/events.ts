// Wakes a node when something waits for it; what waits is then listed, so that nothing depends on having been woken.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation, RawResponse, type ServerEvent } from '../../../kernel/operation/operation.ts'
import { loadOwnNode } from '../node/load-own-node.ts'
import { idInput } from '../node/model.ts'
import { mailTopic } from './deliver.ts'
import { mailboxes } from './model.ts'

/** Also the longest that a stream outlives its token; what the node could not take is told of again this often. */
const notify_interval_ms = 5_000

const mailWaiting = z.strictObject({ waiting: z.int().min(0) }).meta({ id: 'MailWaiting' })

export const events = operation({
  summary: 'Stream, as server-sent events, that messages wait for a node',
  method: 'GET',
  path: '/api/v2/hub/node/{id}/message/events',
  input: idInput,
  output: mailWaiting,
  errors: ['not_found', 'rate_limited'],
  allow: 'hub:node',
  produces: ['text/event-stream'],
  streams: true,

  async run(call, { id }) {
    const own = await loadOwnNode(call, id)
    return isRefusal(own) ? own : new RawResponse('text/event-stream', streamWaiting(call, id))
  },
})

/** The first comes at once, whatever waits: the node then knows that it is listened to. */
async function* streamWaiting(call: Call, id: string): AsyncIterable<ServerEvent> {
  const ends = call.caller.expires_ts ?? Number.POSITIVE_INFINITY
  const pause_ms = Math.max(1, Math.min(notify_interval_ms, ends - call.now()))
  let told = 0
  for await (const _ of call.changes(mailTopic(id), call.signal, pause_ms)) {
    if (call.now() >= ends) return
    const count = await call.store(mailboxes).count({ receiver: id })
    if (count === 0 && told > 0) continue
    told += 1
    yield { id: String(told), event: 'mail', data: { waiting: count } }
  }
}
