// Changes a session by a pure rule that needs its standing: load it, decide, store, tell.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import { lifecycleEvent } from './lifecycle-event.ts'
import { type StoredSession, sessions } from './model.ts'
import type { Standing } from './standing.ts'
import { standingAtHand, standingOf } from './standings.ts'
import { tell } from './tell.ts'

type Rule = (current: StoredSession, standing: Standing) => StoredSession | Refused

/** Sessions that live at a peer are decided there, so nothing here may change them. The same value back is no change. */
export async function changeSession(
  call: Call,
  id: string,
  action: string,
  rule: Rule,
): Promise<Doc<StoredSession> | Refused> {
  for (;;) {
    const { doc, answer } = await call
      .store(sessions)
      .update<'entered' | 'changed' | 'same' | 'again' | Refused>(id, (current) => {
        const session = current.value
        if (session.origin)
          return { answer: refuse('session_closed', `the session is decided at ${session.origin.peer}`) }
        const standing = standingAtHand(call, current)
        if (!standing) return { answer: 'again' }
        const next = rule(session, standing)
        if (isRefused(next)) return { answer: next }
        if (next === session) return { answer: 'same' }
        return {
          next,
          answer: next.history.length > session.history.length ? 'entered' : 'changed',
          audit: [lifecycleEvent(call, action, next, { from: session.state, to: next.state })],
        }
      })
    if (isRefused(answer)) return answer
    if (answer === 'again') {
      await standingOf(call, doc)
      continue
    }
    if (answer !== 'same') tell(call, doc, answer === 'entered')
    return doc
  }
}
