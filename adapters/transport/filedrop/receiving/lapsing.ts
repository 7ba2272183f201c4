// What never becomes complete is given up, by the journal's count of how long it waits: times of files are the sender's to choose.
import { guarded } from '../accident.ts'
import { type Fault, fault } from '../reasons.ts'
import type { Item, Stranger } from './dropbox.ts'
import { type Desk, putAway, type ScanDesk, traced } from './fate.ts'
import { putAwayStranger } from './stray-files.ts'

export type Waiting = Item | Stranger

/** Names that one transaction of the journal is about; others get their turn between two. */
const stretch = 2_000

/** `waiting`: all that waits now; the journal forgets what else did. When the first of it began to wait, if any. */
export async function giveUpLapsed(waiting: () => Iterable<Waiting>, desk: ScanDesk): Promise<number | undefined> {
  const names: string[] = []
  for (const each of waiting()) names.push(...namesOf(each))
  const { first, lapsed } = await judgeNames(names, desk)
  if (lapsed.size === 0) return first
  for (const each of waiting()) {
    if (desk.isStopped()) break
    if (namesOf(each).some((name) => lapsed.has(name))) {
      await giveUp(each, fault('TRUNCATED', 'it never became complete'), desk)
    }
  }
  return first
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

type Judged = { readonly first: number | undefined; readonly lapsed: ReadonlySet<string> }

async function judgeNames(names: readonly string[], { around, place, isStopped }: ScanDesk): Promise<Judged> {
  const { journal, clock, settings } = around
  const now = clock.now()
  const lapsed = new Set<string>()
  // No character is more than one byte of a name, so this is the journal's order too.
  const sorted = names.toSorted()
  const distinct = sorted.filter((name, at) => name !== sorted[at - 1])
  let first: number | undefined
  let after = ''
  for (let at = 0; at === 0 || at < distinct.length; at += stretch) {
    // What was not told counts as due, so that the next scan tells it.
    if (isStopped()) return { first: now - settings.truncated_after_ms, lapsed }
    const some = distinct.slice(at, at + stretch)
    const upto = at + stretch < distinct.length ? some.at(-1) : undefined
    for (const [name, since] of await journal.waiting(place.channel, some, now, { after, upto })) {
      first = Math.min(first ?? since, since)
      if (now - since >= settings.truncated_after_ms) lapsed.add(name)
    }
    after = upto ?? after
  }
  return { first, lapsed }
}
