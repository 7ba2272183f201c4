// Changes a session by a pure rule over its standing contributions: load, decide, store, announce.

import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { DecideSorted } from '../combine/decide.ts'
import { announceChange } from './announce-change.ts'
import type { ContributionView } from './contribution/contribution-index.ts'
import { cachedContributionView, reloadContributionIndex } from './contribution/contribution-index-cache.ts'
import { lifecycleEvent } from './lifecycle-event.ts'
import { type StoredSession, sessions } from './model.ts'
import { timeDecisions } from './time-decisions.ts'

type SessionRule = (current: StoredSession, view: ContributionView, decide: DecideSorted) => StoredSession | Refusal

/** Refuses `session_closed` for a session that a peer hosts, since it is decided there. `rule` returns `current` for no change. */
export async function changeSession(
  call: Call,
  id: string,
  action: string,
  rule: SessionRule,
): Promise<Doc<StoredSession> | Refusal> {
  const timer = timeDecisions(call)
  for (;;) {
    const { doc, answer } = await call
      .store(sessions)
      .update<'entered' | 'changed' | 'same' | 'not_loaded' | Refusal>(id, (current) => {
        const session = current.value
        if (session.origin)
          return {
            answer: refuse('session_closed', `the session is hosted by ${session.origin.peer}, which alone decides it`),
          }
        const view = cachedContributionView(call, current)
        if (!view) return { answer: 'not_loaded' }
        const next = rule(session, view, timer.decide)
        if (isRefusal(next)) return { answer: next }
        if (next === session) return { answer: 'same' }
        return {
          next,
          answer: next.history.length > session.history.length ? 'entered' : 'changed',
          audit: [lifecycleEvent(call, action, next, { from: session.state, to: next.state })],
        }
      })
    timer.observe()
    if (isRefusal(answer)) return answer
    if (answer === 'not_loaded') {
      await reloadContributionIndex(call, doc)
      continue
    }
    if (answer !== 'same') announceChange(call, doc, answer === 'entered')
    return doc
  }
}
