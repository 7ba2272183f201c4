// Ids of sessions: each site makes its own in a part of the id space that no other site may use.
import * as z from 'zod'
import { sha256 } from '../../kernel/encoding/canonical-json.ts'

/** The only form in which a site makes the id of a session, and in which it accepts one of a peer. */
export const sessionId = z.string().regex(/^ses_[0-9a-f]{32}$/, 'must be ses_ and 32 lower-case hexadecimal digits')

/** The only form of the id of a dissent record, before the receiver adds the name of its origin. */
export const dissentId = z.string().regex(/^dis_[0-9a-f]{32}$/, 'must be dis_ and 32 lower-case hexadecimal digits')

/** The id of a session that the site hosts. `digits`: at least 24 hexadecimal digits, random or derived. */
export function hostedSessionId(site: string, digits: string): string {
  return `${sessionPrefix(site)}${digits.slice(0, 24)}`
}

/**
 * Whether only this site may make the id. Ids derive from idempotency keys and matches, so a peer can predict them: without
 * a part of its own a site would find its next session taken by the invitation of a peer.
 */
export function isReservedFor(site: string, session_id: string): boolean {
  return session_id.startsWith(sessionPrefix(site))
}

function sessionPrefix(site: string): string {
  return `ses_${sha256(site).slice(0, 8)}`
}
