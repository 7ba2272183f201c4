// What follows from a change that is already durable: listeners, counters, and the relay that pays what is owed.
import type { Call } from '../../../kernel/call.ts'
import type { Doc } from '../../../kernel/store.ts'
import { sessionTotal } from '../metrics.ts'
import type { StoredSession } from './model.ts'

/** `hasEntered`: whether this very change brought the session into its state. */
export function tell(call: Call, { id, value }: Doc<StoredSession>, hasEntered: boolean): void {
  if (hasEntered) call.count(sessionTotal, { state: value.state })
  if (value.owes) call.wake('relay')
  call.announce(topicOf(id))
}

export function topicOf(session_id: string): string {
  return `consensus.session/${session_id}`
}
