// What people ask of the carrier that is told of no arrival.
import type { Call } from '../../kernel/call.ts'
import { refuse } from '../../kernel/errors.ts'
import type { OneWay } from '../../kernel/one-way.ts'
import { transportsPart } from './parts.ts'

/** Throws `Refused('unavailable')` for a site that has none. */
export function oneWayOf(call: Call): OneWay {
  const found = call.part(transportsPart).find(({ oneWay }) => oneWay)?.oneWay
  if (!found) throw refuse('unavailable', 'the site has no one-way carrier')
  return found
}
