// What a line says by itself from time to time: inventories to every peer, acknowledgements where a way back is accredited.
import type { Journal } from '../../../../daemon/kernel/journal.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import { type Line, standing } from '../line.ts'
import type { Surroundings } from '../surroundings.ts'
import { composeAcknowledgement } from './acknowledgement.ts'
import { composeInventory } from './inventory.ts'
import type { Numbering } from './numbering.ts'

/** Sends what is due; whether anything was. Both clocks of a site are asked: see `timer`. */
export function reports(line: Line, numbers: Numbering, around: Surroundings): () => Promise<boolean> {
  const inventories = timer(around)
  const acknowledgements = timer(around)
  return async () => {
    const { peer } = await standing(line, 'out', around)
    if (!peer) return false
    const isTold = await inventories.when(
      peer.inventory_interval_s * 1_000,
      () => lastInventory(line, peer, around.journal),
      () => numbers.next({ peer, compose: (head, recent) => composeInventory(peer, head, recent, around) }),
    )
    const every_s = around.isAccredited(peer.name) ? around.acknowledgements[peer.name]?.every_s : undefined
    if (every_s === undefined) return isTold
    const isAcknowledged = await acknowledgements.when(
      every_s * 1_000,
      async () => around.clock.now(),
      () => numbers.next({ peer, compose: (head) => composeAcknowledgement(line, peer, head, around) }),
    )
    return isTold || isAcknowledged
  }
}

/** Before the first one time runs from the enrolment: a site that is switched off each night says one too. */
async function lastInventory(line: Line, peer: Peer, journal: Journal): Promise<number> {
  const channel = (await journal.channels()).find((each) => each.channel === line.channel.out)
  return channel?.inventory_at || Date.parse(peer.enrolled)
}

type Timer = {
  /** Acts when so much time has gone by since it last did; whether it did. `last`: of an earlier process, in epoch milliseconds. */
  when(interval_ms: number, last: () => Promise<number>, act: () => Promise<unknown>): Promise<boolean>
}

/**
 * Counts on the clock that never jumps. The other one only tells, once, how long ago an earlier process acted: as much as
 * one interval at most, whatever that clock says, and no less than nothing.
 */
function timer({ clock }: Surroundings): Timer {
  let acted: number | undefined
  return {
    async when(interval_ms, last, act) {
      const now = clock.monotonic()
      acted ??= now - Math.min(Math.max(clock.now() - (await last()), 0), interval_ms)
      if (now - acted < interval_ms) return false
      await act()
      acted = now
      return true
    },
  }
}
