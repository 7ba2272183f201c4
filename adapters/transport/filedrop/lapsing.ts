// What never becomes complete is given up, by the journal's count of how long it waits: times of files are the sender's to choose.
import { guarded } from './accident.ts'
import type { Item, Stranger } from './dropbox.ts'
import { type Desk, putAway, type ScanDesk, traced } from './fate.ts'
import { type Fault, fault } from './reasons.ts'
import { putAwayStranger } from './stray-files.ts'

/** Nothing else is kept of what waits: there may be a hundred thousand. */
export type Waiting = Item | Stranger

/** Names that one transaction of the journal is about; others get their turn between two. */
const stretch = 2_000

/** `waiting`: all that waits now; the journal forgets what else did. */
export async function giveUpLapsed(waiting: readonly Waiting[], desk: ScanDesk): Promise<void> {
  const lapsed = await lapsedNames(waiting.flatMap(namesOf), desk)
  if (lapsed.size === 0) return
  for (const each of waiting) {
    if (desk.isStopped()) return
    if (namesOf(each).some((name) => lapsed.has(name))) {
      await giveUp(each, fault('TRUNCATED', 'it never became complete'), desk)
    }
  }
}

export async function giveUp(waiting: Waiting, why: Fault, scanDesk: ScanDesk): Promise<void> {
  const desk = traced(scanDesk)
  await guarded(desk, namesOf(waiting).join(' '), () => putAwayAny(waiting, why, desk))
}

function putAwayAny(waiting: Waiting, why: Fault, desk: Desk): Promise<void> {
  return 'stem' in waiting ? putAway(waiting, why, desk) : putAwayStranger(waiting, why, desk)
}

/** As the journal knows them. */
function namesOf(waiting: Waiting): string[] {
  if (!('stem' in waiting)) return [waiting.bytes]
  const { stem, env, body } = waiting
  return [...(env ? [`${stem}.env`] : []), ...(body ? [`${stem}.body`] : [])]
}

async function lapsedNames(names: readonly string[], { around, place, isStopped }: ScanDesk): Promise<Set<string>> {
  const { journal, clock, settings } = around
  const now = clock.now()
  const lapsed = new Set<string>()
  // No character is more than one byte of a name, so this is the journal's order too.
  const sorted = names.toSorted()
  const distinct = sorted.filter((name, at) => name !== sorted[at - 1])
  let after = ''
  for (let at = 0; at === 0 || at < distinct.length; at += stretch) {
    if (isStopped()) break
    const some = distinct.slice(at, at + stretch)
    const upto = at + stretch < distinct.length ? some.at(-1) : undefined
    const since = await journal.waiting(place.channel, some, now, { after, upto })
    for (const [name, first] of since) if (now - first >= settings.truncated_after_ms) lapsed.add(name)
    after = upto ?? after
  }
  return lapsed
}
