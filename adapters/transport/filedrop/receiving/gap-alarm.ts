// Tells, once each, that numbers are missing and that an epoch waits for its announcement: people can ask for them again.

import { eventOf } from '../line.ts'
import type { ScanDesk } from './fate.ts'

/** What was told already. */
export type Told = { epoch: number; missing: number; awaited: number }

export function toldNothing(): Told {
  return { epoch: 0, missing: 0, awaited: 0 }
}

export async function tellGaps({ line, around, place, epoch, early }: ScanDesk, told: Told): Promise<void> {
  const { floor, highest, arrived } = await around.journal.progress(place.channel, epoch)
  const missing = highest - floor - arrived
  if (missing > (told.epoch === epoch ? told.missing : 0)) {
    const gaps = await around.journal.gaps(place.channel, epoch, 16)
    around.log.warn('filedrop.gap', { peer: line.peer, missing, gaps })
    await around.record([eventOf(line, 'filedrop.gap.found', place.channel, { epoch, missing, gaps }, around)])
  }
  Object.assign(told, { epoch, missing })
  if (early.size === 0 || told.awaited === epoch + 1) return
  told.awaited = epoch + 1
  around.log.warn('filedrop.epoch.awaited', { peer: line.peer, epoch: epoch + 1, waiting: early.size })
  const about = { epoch: epoch + 1, waiting: early.size }
  await around.record([eventOf(line, 'filedrop.epoch.awaited', place.channel, about, around)])
}
