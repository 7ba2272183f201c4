// Server-sent events of a session, gaplessly numbered from its proposal on; `Last-Event-ID` resumes where a client stopped.
import * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import { changesUntilExpiry, isTokenExpired } from '../../../kernel/operation/changes-until-expiry.ts'
import { operation, RawResponse, type ServerEvent } from '../../../kernel/operation/operation.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { combination } from '../combine/combination.ts'
import { decision } from '../combine/decide.ts'
import { sessionTopic } from './announce-change.ts'
import { contribution } from './contribution/model.ts'
import { readContributions } from './contribution/read-contributions.ts'
import {
  idInput,
  type StoredSession,
  sessionConflictReason,
  sessionState,
  sessions,
  type Transition,
  transition,
} from './model.ts'
import { isDecided, lastEventNumber } from './transition/rules.ts'

/** Also the longest time that a stream outlives its token. */
const poll_interval_ms = 1_000

/** Events sent in one turn, so that a long record is never in memory as a whole. */
const batch_size = 500

const outcome = z
  .strictObject({
    state: sessionState,
    decision: decision.optional(),
    reason: sessionConflictReason.optional(),
    result: combination.optional(),
  })
  .meta({ id: 'Outcome', description: 'The decision of a change of state, as in the event stream' })

export const events = operation({
  summary: 'Stream a session as server-sent events: state, contribution, result',
  method: 'GET',
  path: '/api/v2/consensus/session/{id}/events',
  input: idInput,
  output: z.union([transition, contribution, outcome]),
  errors: ['not_found', 'rate_limited'],
  allow: 'consensus:read',
  produces: ['text/event-stream'],
  streams: true,

  async run(call, { id }) {
    await call.store(sessions).get(id)
    return new RawResponse('text/event-stream', streamEvents(call, id))
  },
})

/** Ends after WITHDRAWN, with the caller's token, when the caller may no longer see the session, or when it leaves. */
async function* streamEvents(call: Call, id: string): AsyncIterable<ServerEvent> {
  let lastNumber = Math.max(0, Number.parseInt(call.last_event_id ?? '0', 10) || 0)
  for await (const _ of changesUntilExpiry(call, sessionTopic(id), poll_interval_ms)) {
    for (;;) {
      if (isTokenExpired(call)) return
      const doc = await call.store(sessions).find(id)
      if (!doc) return
      const next = await loadEventsAfter(call, doc, lastNumber)
      for (const event of next) {
        // A slow reader must not receive, after its token has expired, an event that was read before.
        if (isTokenExpired(call)) return
        yield event
      }
      lastNumber += next.length
      if (next.length < batch_size && doc.value.state === 'WITHDRAWN') return
      if (next.length < batch_size) break
    }
  }
}

/** At most one batch of events after `lastNumber`, in order. A number that no transition has is a contribution's. */
async function loadEventsAfter(call: Call, doc: Doc<StoredSession>, lastNumber: number): Promise<ServerEvent[]> {
  const { history } = doc.value
  const last = Math.min(lastEventNumber(doc.value), lastNumber + batch_size)
  const state_events = new Map(history.flatMap((step) => eventsOf(step)).map((event) => [Number(event.id), event]))
  const before = [...state_events.keys()].filter((number) => number <= lastNumber).length
  const max_events = Math.max(0, last - lastNumber)
  const contributions = max_events ? await readContributions(call, doc, lastNumber - before, max_events) : []
  const events: ServerEvent[] = []
  for (let number = lastNumber + 1; number <= last; number++) {
    const event = state_events.get(number)
    if (event) events.push(event)
    else events.push({ id: String(number), event: 'contribution', data: contributions.shift() })
  }
  return events
}

function eventsOf(step: Transition): ServerEvent[] {
  const { seq, result, decision, reason, to: state } = step
  const state_event = { id: String(seq), event: 'state', data: step }
  if (!isDecided(state)) return [state_event]
  return [state_event, { id: String(seq + 1), event: 'result', data: { state, decision, reason, result } }]
}
