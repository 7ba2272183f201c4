// A sender says something at least once an interval: three of them without a word, and somebody must look.

import { eventOf, type Line } from '../line.ts'
import { alarmsTotal } from '../metrics.ts'
import type { Candidate } from './candidate.ts'
import type { ScanDesk } from './fate.ts'

const intervals = 3

export type Silence = {
  /** Of a batch whose fates are known: what is new and the sender's own breaks the silence, a repeat does not. */
  heard(batch: readonly Candidate[]): void
  /** Raises the alarm, once, when it has lasted too long. */
  judge(desk: ScanDesk): Promise<void>
}

/**
 * Counts on the clock that never jumps. What was silent before this process began counts for one interval less than
 * it takes: no wall clock raises the alarm alone, and a restart puts it off by no more than one.
 */
export function silence(line: Line): Silence {
  let since: number | undefined
  let isBroken = false
  return {
    heard(batch) {
      isBroken ||= batch.some(isNews)
    },
    async judge(desk) {
      const { clock } = desk.around
      const now = clock.monotonic()
      const interval_ms = desk.place.peer.inventory_interval_s * 1_000
      if (isBroken) {
        if (line.stale) desk.around.log.info('filedrop.channel.heard', { peer: line.peer })
        line.stale = false
        since = now
      }
      isBroken = false
      since ??= now - Math.min(Math.max(clock.now() - (await lastInventory(desk)), 0), (intervals - 1) * interval_ms)
      if (line.stale || now - since < intervals * interval_ms) return
      await tell(desk)
      line.stale = true
    },
  }
}

function isNews({ fate, wasInWork }: Candidate): boolean {
  if (fate?.is === 'held') return !wasInWork
  return fate?.is === 'applied' || fate?.is === 'refused' || fate?.is === 'quarantined'
}

async function lastInventory({ around, place }: ScanDesk): Promise<number> {
  const known = (await around.journal.channels()).find(({ channel }) => channel === place.channel)
  return known?.inventory_at || Date.parse(place.peer.enrolled)
}

async function tell({ line, around, place }: ScanDesk): Promise<void> {
  const { inventory_interval_s } = place.peer
  around.log.error('filedrop.channel.stale', { peer: line.peer, inventory_interval_s })
  around.metrics.count(alarmsTotal, { peer: line.peer, alarm: 'stale' })
  const about = { direction: 'in', inventory_interval_s }
  await around.record([eventOf(line, 'filedrop.channel.stale', place.channel, about, around)])
}
