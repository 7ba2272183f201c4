// The time of the last inventory on a channel, for the timers that count from it.
import type { Peer } from '../../../../daemon/kernel/identity/peer.ts'
import type { Journal } from '../../../../daemon/kernel/messaging/journal.ts'

/** In epoch milliseconds. The enrolment of the peer stands in for the first one. */
export async function lastInventoryTime(
  channel: string,
  peer: Pick<Peer, 'enrolled'>,
  journal: Pick<Journal, 'channels'>,
): Promise<number> {
  const known = (await journal.channels()).find((each) => each.channel === channel)
  return known?.inventory_at || Date.parse(peer.enrolled)
}
