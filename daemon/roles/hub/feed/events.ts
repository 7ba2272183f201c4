// The status feed as server-sent events, in the order of its numbers; `Last-Event-ID` resumes where a reader stopped.
import * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import { changesUntilExpiry, isTokenExpired } from '../../../kernel/operation/changes-until-expiry.ts'
import { operation, RawResponse, type ServerEvent } from '../../../kernel/operation/operation.ts'
import { feedEntry } from '../../../shared/coalition/hub-protocol.ts'
import { feedEntries } from './model.ts'
import { entryOf, feedTopic, parseLastEventId } from './rules.ts'

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
  let lastSeq = parseLastEventId(call.last_event_id)
  const order = { field: 'seq', direction: 'asc' } as const
  for await (const _ of changesUntilExpiry(call, feedTopic(call.caller.tenant_id), poll_interval_ms)) {
    for (;;) {
      const query = { filter: { seq: { gt: lastSeq } }, order, limit: batch_size, fresh: true }
      const { docs, next_cursor } = await call.store(feedEntries).list(query)
      for (const { value } of docs) {
        if (isTokenExpired(call)) return
        yield { id: String(value.seq), event: 'status', data: entryOf(value) }
        lastSeq = value.seq
      }
      if (isTokenExpired(call)) return
      if (next_cursor === undefined) break
    }
  }
}
