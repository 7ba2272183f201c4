// Finds the carrier without confirmation of arrival, for operations that people perform on it.

import { refuse } from '../../kernel/error/errors.ts'
import type { OneWayControl } from '../../kernel/messaging/one-way-control.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { transportsPart } from './parts.ts'

/** Throws `Refusal('unavailable')` for a site that has none. */
export function oneWayOf(call: Call): OneWayControl {
  const control = call.part(transportsPart).find(({ oneWay }) => oneWay)?.oneWay
  if (!control) throw refuse('unavailable', 'the site has no one-way carrier')
  return control
}
