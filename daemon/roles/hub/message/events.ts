// Wakes a node when something waits for it; what waits is then listed, so that nothing depends on having been woken.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { isRefused } from '../../../kernel/errors.ts'
import { operation, Reply, type ServerEvent } from '../../../kernel/operation.ts'
import { ownNode } from '../node/acting.ts'
import { idInput } from '../node/model.ts'
import { topicOf } from './deliver.ts'
import { mailboxes } from './model.ts'

/** Also the longest that a stream outlives its token; what the node could not take is told of again this often. */
const retell_ms = 5_000

const waiting = z.strictObject({ waiting: z.int().min(0) }).meta({ id: 'MailWaiting' })

export const events = operation({
  summary: 'Stream, as server-sent events, that messages wait for a node',
  method: 'GET',
  path: '/api/v2/hub/node/{id}/message/events',
  input: idInput,
  output: waiting,
  errors: ['not_found', 'rate_limited'],
  allow: 'hub:node',
  produces: ['text/event-stream'],
  streams: true,

  async run(call, { id }) {
    const own = await ownNode(call, id)
    return isRefused(own) ? own : new Reply('text/event-stream', stream(call, id))
  },
})

/** The first comes at once, whatever waits: the node then knows that it is listened to. */
async function* stream(call: Call, id: string): AsyncIterable<ServerEvent> {
  const ends = call.caller.expires_ts ?? Number.POSITIVE_INFINITY
  const pause_ms = Math.max(1, Math.min(retell_ms, ends - call.now()))
  let told = 0
  for await (const _ of call.changes(topicOf(id), call.signal, pause_ms)) {
    if (call.now() >= ends) return
    const count = await call.store(mailboxes).count({ receiver: id })
    if (count === 0 && told > 0) continue
    told += 1
    yield { id: String(told), event: 'mail', data: { waiting: count } }
  }
}
