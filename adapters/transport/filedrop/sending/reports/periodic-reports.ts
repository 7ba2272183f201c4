// Sends periodic reports: inventories to every peer, acknowledgements over accredited return paths.

import type { FiledropContext } from '../../filedrop-context.ts'
import { checkChannelState, type FiledropLink } from '../../link/filedrop-link.ts'
import { lastInventoryTime } from '../../link/last-inventory.ts'
import type { MessageNumbering } from '../numbering/message-numbering.ts'
import { composeAcknowledgement } from './compose-acknowledgement.ts'
import { composeInventory } from './compose-inventory.ts'

export type PeriodicReports = {
  /** Sends the reports that are due; resolves with whether any was. */
  sendDue(): Promise<boolean>
  /** An inventory is due now. */
  requestInventory(): void
}

/** Reads both clocks of a site: see `intervalTimer`. */
export function periodicReports(
  link: FiledropLink,
  numbering: MessageNumbering,
  filedrop: FiledropContext,
): PeriodicReports {
  const inventories = intervalTimer(filedrop)
  const acknowledgements = intervalTimer(filedrop)
  const sendDue = async () => {
    const { peer } = await checkChannelState(link, 'out', filedrop)
    if (!peer) return false
    const hasSentInventory = await inventories.runIfDue(
      peer.inventory_interval_s * 1_000,
      // A site that is switched off each night sends an inventory too.
      () => lastInventoryTime(link.channel.out, peer, filedrop.journal),
      () => numbering.next({ peer, compose: (head, recent) => composeInventory(peer, head, recent, filedrop) }),
    )
    const every_s = filedrop.isAccredited(peer.name) ? filedrop.acknowledgements[peer.name]?.every_s : undefined
    if (every_s === undefined) return hasSentInventory
    const hasAcknowledged = await acknowledgements.runIfDue(
      every_s * 1_000,
      async () => filedrop.clock.now(),
      () => numbering.next({ peer, compose: (head) => composeAcknowledgement(link, peer, head, filedrop) }),
    )
    return hasSentInventory || hasAcknowledged
  }
  return { sendDue, requestInventory: inventories.expire }
}

type IntervalTimer = {
  /** The interval counts as over. */
  expire(): void
  /** Acts when so much time has gone by since it last did; whether it did. `last`: of an earlier process, in epoch milliseconds. */
  runIfDue(interval_ms: number, last: () => Promise<number>, act: () => Promise<unknown>): Promise<boolean>
}

/**
 * Counts on the monotonic clock. The wall clock only yields, once, how long ago an earlier process acted, limited to between
 * zero and one interval.
 */
function intervalTimer({ clock }: FiledropContext): IntervalTimer {
  let acted: number | undefined
  return {
    expire() {
      acted = Number.NEGATIVE_INFINITY
    },
    async runIfDue(interval_ms, last, act) {
      const now = clock.monotonic()
      acted ??= now - Math.min(Math.max(clock.now() - (await last()), 0), interval_ms)
      if (now - acted < interval_ms) return false
      await act()
      acted = now
      return true
    },
  }
}
