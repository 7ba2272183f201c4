// Publishes a node's event to the feed, which numbers events without gaps; a repeat gets no second number.

import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { siteName } from '../../../kernel/messaging/statement.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { feedEntry, type StatusEvent, statusEvent } from '../../../shared/coalition/hub-protocol.ts'
import { feedTotal } from '../metrics.ts'
import { loadOwnNode } from '../node/load-own-node.ts'
import { feedEntries } from './model.ts'
import { entryId, entryOf, eventKey, feedTopic, isSameEvent } from './rules.ts'

export const publish = operation({
  summary: 'Publish an event to the status feed of the coalition',
  method: 'POST',
  path: '/api/v2/hub/node/{id}/feed',
  input: statusEvent.extend({ id: siteName }),
  output: feedEntry,
  errors: ['not_found', 'idempotency_mismatch'],
  allow: 'hub:node',

  async run(call, { id, ...event }) {
    const node = await loadOwnNode(call, id)
    if (isRefusal(node)) return node
    for (;;) {
      // Read the last number first: if another call publishes meanwhile, it takes the next number and this one retries.
      const last = await loadLastSeq(call)
      const published = await findPublished(call, eventKey(id, event.event_id))
      if (published && !isSameEvent(published, event))
        return refuse(
          'idempotency_mismatch',
          `the node published other content under the event id ${event.event_id}; use a new id`,
        )
      if (published) return entryOf(published)
      const made = await appendEntry(call, id, event, last + 1)
      if (made !== 'exists') return entryOf(made.value)
    }
  },
})

async function loadLastSeq(call: Call): Promise<number> {
  const order = { field: 'seq', direction: 'desc' } as const
  const { docs } = await call.store(feedEntries).list({ order, limit: 1, fresh: true })
  return docs[0]?.value.seq ?? 0
}

async function findPublished(call: Call, event: string) {
  const { docs } = await call.store(feedEntries).list({ filter: { event }, limit: 1, fresh: true })
  return docs[0]?.value
}

async function appendEntry(call: Call, node: string, event: StatusEvent, seq: number) {
  const { tenant_id } = call.caller
  const id = entryId(tenant_id, seq)
  const entry = { tenant_id, ...event, seq, node, published_at: call.nowIso(), event: eventKey(node, event.event_id) }
  const audit = [call.audited('hub.feed.publish', id, { node, seq, session_id: event.session_id, state: event.state })]
  const made = await call.store(feedEntries).create(id, entry, audit)
  if (made !== 'exists') {
    call.count(feedTotal, { state: event.state })
    call.announce(feedTopic(tenant_id))
  }
  return made
}
