// Announces a durable change of a session: to event streams, the counters, and the relay that delivers the outbox.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { sessionTotal } from '../metrics.ts'
import type { StoredSession } from './model.ts'

/** `hasEntered`: whether this change brought the session into its state. */
export function announceChange(call: Call, { id, value }: Doc<StoredSession>, hasEntered: boolean): void {
  if (hasEntered) call.count(sessionTotal, { state: value.state })
  if (value.owes) call.wake('relay')
  call.announce(sessionTopic(id))
}

export function sessionTopic(session_id: string): string {
  return `consensus.session/${session_id}`
}
