// The result of delivering one entry of a session's outbox.
import type { SessionOutboxEntry, StoredSession } from '../session/model.ts'

/**
 * What the session becomes once an entry is delivered, and the entries that then take its place. Pure: it runs within
 * an update of the session.
 */
export type OutboxDelivery = (session: StoredSession) => {
  readonly session: StoredSession
  readonly more: readonly SessionOutboxEntry[]
}

export const noFollowUps: OutboxDelivery = (session) => ({ session, more: [] })
