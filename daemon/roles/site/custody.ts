// Finds the carrier that stores the messages that it carries; a site has one.

import { refuse } from '../../kernel/error/errors.ts'
import type { Custody } from '../../kernel/messaging/custody.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { transportsPart } from './parts.ts'

/** Throws `Refusal('unavailable')` where there is none. */
export function custodyOf(call: Call): Custody {
  const custody = call.part(transportsPart).find((transport) => transport.custody)?.custody
  if (!custody) throw refuse('unavailable', 'the site has no carrier that stores messages')
  return custody
}
