// Whether the message belongs here and now: for this site, on this channel, neither too old nor from the future.

import { type Fault, fault } from '../reasons.ts'
import type { Ledger } from '../receiving/ledger.ts'
import type { Place } from './checks.ts'
import { known, passesOver, type Specimen } from './specimen.ts'

const day_ms = 86_400_000

export function destinationCheck(specimen: Specimen, place: Place): Fault | undefined {
  const { dst, receiver_tenant_id } = known(specimen, 'statement')
  if (dst !== place.site) return fault('WRONG_DST', 'it is for another site')
  if (receiver_tenant_id !== place.tenant_id) return fault('WRONG_DST', 'it is for another tenant')
  return undefined
}

export function channelCheck(specimen: Specimen, place: Place): Fault | undefined {
  const { channel, src, sender_tenant_id } = known(specimen, 'statement')
  if (channel !== place.channel) return fault('WRONG_CHANNEL', 'it was sent on another channel')
  if (src !== place.peer.name) return fault('WRONG_CHANNEL', 'it is from another site')
  if (sender_tenant_id !== place.peer.tenant_id) return fault('WRONG_CHANNEL', 'it is from another tenant')
  return undefined
}

/** A message that was fresh when it arrived stays so: downtime of this site makes nothing expire. */
export function freshnessCheck(specimen: Specimen, place: Place, ledger: Ledger): Fault | undefined {
  if (!place.trusted_clock || !staleness(specimen, place, place.now)) return undefined
  const { epoch, seq } = known(specimen, 'statement')
  const entry = ledger.entry(epoch, seq)
  const arrived = entry?.digest === specimen.digest ? entry?.at : undefined
  const stale = staleness(specimen, place, arrived ?? place.now)
  return stale && passesOver(specimen, stale.reason) ? undefined : stale
}

function staleness(specimen: Specimen, { peer, skew_ms }: Place, at: number): Fault | undefined {
  const { created, not_after } = known(specimen, 'statement')
  const made = Date.parse(created)
  // The sender may ask for less time than enrolment grants, never for more.
  const end = Math.min(Date.parse(not_after), made + peer.not_after_days * day_ms)
  if (made > at + skew_ms) return fault('FUTURE', 'it was made in the future')
  if (at > end + skew_ms) return fault('EXPIRED', 'its time is over')
  return undefined
}
