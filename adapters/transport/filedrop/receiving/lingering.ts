// Messages that lie in `work` from before: those that wait behind a gap, and those that a death may be laid to.

import { passesOver, type Specimen } from '../checks/specimen.ts'
import { type Fault, fault } from '../reasons.ts'
import type { Item } from './dropbox.ts'
import { closingEvent, type Desk, moveAway, putAway, tellPutAway } from './fate.ts'
import { isOrdered } from './ordering.ts'

/** Whether it goes on waiting for what was sent before it. The ledger remembers, over a restart too. */
export async function isHeld({ stem, epoch, seq }: Item, desk: Desk): Promise<boolean> {
  const { held, early, around, place } = desk
  const { journal } = around
  // Not even opened before: what is wrong with it shows when its epoch is open.
  if (epoch === desk.epoch + 1 && seq > 1) {
    early.add(stem)
    return true
  }
  early.delete(stem)
  if (!held.has(stem)) {
    const entry = await journal.entry(place.channel, epoch, seq)
    if (entry?.state !== 'received' || !isOrdered(entry.kind)) return false
  }
  if ((await journal.progress(place.channel, epoch)).floor >= seq) return false
  held.add(stem)
  return true
}

/** Why one more cannot wait; people may let it. */
export function fullFault({ stem }: Item, { held, early, around }: Desk, specimen: Specimen): Fault | undefined {
  const { max_held } = around.settings
  const hasRoom = held.has(stem) || early.has(stem) || held.size + early.size < max_held
  if (hasRoom || passesOver(specimen, 'QUOTA')) return undefined
  return fault('QUOTA', `${max_held} messages wait behind a gap already`)
}

/**
 * A file found in `work` was there when a process died or a step threw: that attempt is counted now, before it is
 * opened again. So a message costs no write for the attempts that go well. Puts it away when there were too many.
 */
export async function isPoison(item: Item, desk: Desk): Promise<boolean> {
  const { journal, settings } = desk.around
  const { epoch, seq } = item
  const failed = await journal.failed(desk.place.channel, epoch, seq)
  if (failed < settings.max_attempts) return false
  const why = fault('POISON', `${failed} attempts ended in a crash or an exception`)
  const entry = await journal.entry(desk.place.channel, epoch, seq)
  if (entry?.state !== 'received') {
    await putAway(item, why, desk)
    return true
  }
  const audit = [closingEvent(item, why, desk)]
  await journal.settle(desk.place.channel, [{ epoch, seq, state: 'quarantined', code: why.reason, audit }])
  tellPutAway(item.stem, why, desk)
  moveAway(item, why, desk)
  return true
}
