// The status feed as server-sent events, in the order of its numbers; `Last-Event-ID` resumes where a reader stopped.
import * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation, RawResponse, type ServerEvent } from '../../../kernel/operation/operation.ts'
import { feedEntry } from '../../../shared/coalition/hub-protocol.ts'
import { feedEntries } from './model.ts'
import { feedTopic } from './publish.ts'
import { entryOf, parseLastEventId } from './rules.ts'

/** Also the longest that a stream outlives its token. */
const poll_interval_ms = 1_000
const batch_size = 100

export const events = operation({
  summary: 'Stream the status feed of the coalition as server-sent events',
  method: 'GET',
  path: '/api/v2/hub/feed/events',
  input: z.strictObject({}),
  output: feedEntry,
  errors: ['rate_limited'],
  allow: 'hub:read',
  produces: ['text/event-stream'],
  streams: true,

  run: async (call) => new RawResponse('text/event-stream', streamFeed(call)),
})

async function* streamFeed(call: Call): AsyncIterable<ServerEvent> {
  let seen = parseLastEventId(call.last_event_id)
  const ends = call.caller.expires_ts ?? Number.POSITIVE_INFINITY
  const pause_ms = Math.max(1, Math.min(poll_interval_ms, ends - call.now()))
  const order = { field: 'seq', direction: 'asc' } as const
  for await (const _ of call.changes(feedTopic(call.caller.tenant_id), call.signal, pause_ms)) {
    for (;;) {
      const query = { filter: { seq: { gt: seen } }, order, limit: batch_size, fresh: true }
      const { docs } = await call.store(feedEntries).list(query)
      for (const { value } of docs) {
        if (call.now() >= ends) return
        yield { id: String(value.seq), event: 'status', data: entryOf(value) }
        seen = value.seq
      }
      if (call.now() >= ends) return
      if (docs.length < batch_size) break
    }
  }
}
