// The result of delivering one entry of a session's outbox.
import type { SessionOutboxEntry, StoredSession } from '../session/model.ts'

/**
 * The session after an entry is delivered, and the entries that replace it. Pure: it runs within an update of the
 * session.
 */
export type OutboxDelivery = (session: StoredSession) => {
  readonly session: StoredSession
  readonly more: readonly SessionOutboxEntry[]
}

export const noFollowUps: OutboxDelivery = (session) => ({ session, more: [] })
