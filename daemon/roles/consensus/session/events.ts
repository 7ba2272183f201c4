// Server-sent events of a session's changes of state; `Last-Event-ID` resumes where a client stopped.
import type { Call } from '../../../kernel/call.ts'
import { operation, Reply, type ServerEvent } from '../../../kernel/operation.ts'
import { idInput, sessions, type Transition, transition } from './model.ts'
import { topicOf } from './tell.ts'

const reread_ms = 5_000

export const events = operation({
  summary: 'Stream the changes of state of a session as server-sent events',
  method: 'GET',
  path: '/api/v2/consensus/session/{id}/events',
  input: idInput,
  output: transition,
  errors: ['not_found'],
  allow: 'consensus:read',
  produces: ['text/event-stream'],
  streams: true,

  async run(call, { id }) {
    await call.store(sessions).get(id)
    return new Reply('text/event-stream', stream(call, id))
  },
})

/** Ends after WITHDRAWN, when the caller may no longer see the session, or when the client leaves. */
async function* stream(call: Call, id: string): AsyncIterable<ServerEvent> {
  let seen = Math.max(0, Number.parseInt(call.last_event_id ?? '0', 10) || 0)
  for await (const _ of call.changes(topicOf(id), call.signal, reread_ms)) {
    const doc = await call.store(sessions).find(id)
    if (!doc) return
    for (const step of doc.value.history.slice(seen)) yield asEvent(step)
    seen = Math.max(seen, doc.value.history.length)
    if (doc.value.state === 'WITHDRAWN') return
  }
}

function asEvent(step: Transition): ServerEvent {
  return { id: String(step.seq), event: step.to, data: step }
}
