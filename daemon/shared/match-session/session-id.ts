// The forms of the ids of sessions and dissents, which peers exchange.
import * as z from 'zod'

/** The only form in which a site makes the id of a session, and in which it accepts one of a peer. */
export const sessionId = z.string().regex(/^ses_[0-9a-f]{32}$/, 'must be ses_ and 32 lower-case hexadecimal digits')

/** The only form of the id of a dissent record, before the receiver adds the name of its origin. */
export const dissentId = z.string().regex(/^dis_[0-9a-f]{32}$/, 'must be dis_ and 32 lower-case hexadecimal digits')
