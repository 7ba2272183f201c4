// Raises an alarm when a sender has been silent for three of its inventory intervals.

import type { FiledropLink } from '../../link/filedrop-link.ts'
import { lastInventoryTime } from '../../link/last-inventory.ts'
import { linkAuditEvent } from '../../link/link-audit-event.ts'
import { alarmsTotal } from '../../metrics.ts'
import type { MessageCandidate } from '../batch/message-candidate.ts'
import type { ScanContext } from '../scan-context.ts'

const silent_intervals = 3

export type SilenceAlarm = {
  /** New messages of the sender end the silence; repeats do not. */
  noteActivity(batch: readonly MessageCandidate[]): void
  /** Raises the alarm, once, when the silence has lasted too long. */
  check(context: ScanContext): Promise<void>
}

/**
 * Counts on the monotonic clock. Silence before the start of this process counts for at most two intervals: the wall
 * clock alone cannot raise the alarm, and a restart delays it by at most one interval.
 */
export function silenceAlarm(link: FiledropLink): SilenceAlarm {
  let since: number | undefined
  let isBroken = false
  return {
    noteActivity(batch) {
      isBroken ||= batch.some(isNewFromSender)
    },
    async check(context) {
      const { clock, journal } = context.filedrop
      const { channel, peer } = context.destination
      const now = clock.monotonic()
      const interval_ms = peer.inventory_interval_s * 1_000
      if (isBroken) {
        if (link.stale) context.filedrop.log.info('filedrop.channel.inventory_received', { peer: link.peer })
        link.stale = false
        since = now
      }
      isBroken = false
      if (since === undefined) {
        const last = await lastInventoryTime(channel, peer, journal)
        since = now - Math.min(Math.max(clock.now() - last, 0), (silent_intervals - 1) * interval_ms)
      }
      if (link.stale || now - since < silent_intervals * interval_ms) return
      await raiseSilenceAlarm(context)
      link.stale = true
    },
  }
}

function isNewFromSender({ disposition, wasInWork }: MessageCandidate): boolean {
  if (disposition?.is === 'held') return !wasInWork
  return disposition?.is === 'applied' || disposition?.is === 'refused' || disposition?.is === 'quarantined'
}

async function raiseSilenceAlarm({ link, filedrop, destination }: ScanContext): Promise<void> {
  const { inventory_interval_s } = destination.peer
  filedrop.log.error('filedrop.channel.stale', { peer: link.peer, inventory_interval_s })
  filedrop.metrics.count(alarmsTotal, { peer: link.peer, alarm: 'stale' })
  const about = { direction: 'in', inventory_interval_s }
  await filedrop.record([linkAuditEvent(link, 'filedrop.channel.stale', destination.channel, about, filedrop)])
}
