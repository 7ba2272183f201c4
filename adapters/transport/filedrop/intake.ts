// The receiving half of a line: one scan at a time over what lies there, in the order of the numbers.
import type { Peer } from '../../../daemon/kernel/peer.ts'
import type { Place, Trust } from './checks.ts'
import { type Item, lookInto, type Stranger } from './dropbox.ts'
import { failureText } from './failure-text.ts'
import { type Desk, putAway } from './fate.ts'
import { eventOf, type Line, standing } from './line.ts'
import { gapGauge } from './metrics.ts'
import { type Loop, loop } from './one-at-a-time.ts'
import { stockOf } from './quarantine.ts'
import { type Fault, fault } from './reasons.ts'
import { finishHalf, putAwayStranger } from './stray-files.ts'
import type { Surroundings } from './surroundings.ts'
import { type Deliver, takeIn } from './taking-in.ts'

export type Intake = {
  readonly scanner: Loop
  /** Lies in quarantine now. */
  quarantined(): { items: number; bytes: number }
}

type Memory = Pick<Desk, 'held' | 'deferred'> & {
  isStopped: () => boolean
  /** Whether something failed in this scan. */
  hasFailed: boolean
  stock: { items: number; bytes: number } | undefined
  missing: number
  /** Whether the journal knows of files that wait. */
  hasWaiting: boolean
}

export function intake(line: Line, around: Surroundings, deliver: Deliver): Intake {
  const memory: Memory = {
    held: new Map(),
    deferred: new Set(),
    stock: undefined,
    missing: 0,
    hasWaiting: true,
    isStopped: () => false,
    hasFailed: false,
  }
  const scanner = loop(
    (isStopped) => {
      memory.isStopped = isStopped
      return scan(line, around, deliver, memory)
    },
    (error) => {
      const detail = failureText(error)
      line.trouble.set('in', `a scan failed, and is tried again: ${detail}`)
      around.log.error('filedrop.scan.failed', { peer: line.peer, detail })
    },
  )
  return { scanner, quarantined: () => stock(line, memory) }
}

function stock(line: Line, memory: Memory): { items: number; bytes: number } {
  memory.stock ??= stockOf(line.folders.quarantine)
  return memory.stock
}

async function scan(line: Line, around: Surroundings, deliver: Deliver, memory: Memory): Promise<void> {
  const now = await standing(line, 'in', around)
  if (!now.peer) return
  const desk = deskOf(line, around, memory, now.peer, now.epoch)
  memory.hasFailed = false
  const { items, strangers } = lookInto(line.folders)
  const waiting: Waiting[] = []
  await sortStrangers(strangers, desk, memory, waiting)
  const isThrough = await takeAll(items, desk, deliver, memory, waiting)
  await tellGaps(desk, memory)
  if (!isThrough || memory.isStopped() || isFull(line, around, memory)) return
  await giveUpOn(waiting, desk, memory)
  if (!memory.hasFailed) line.trouble.delete('in')
}

async function sortStrangers(
  strangers: readonly Stranger[],
  desk: Desk,
  memory: Memory,
  waiting: Waiting[],
): Promise<void> {
  for (const stranger of strangers) {
    if (memory.isStopped() || isFull(desk.line, desk.around, memory)) return
    const giveUp = (why: Fault) => putAwayStranger(stranger, why, desk)
    if (stranger.isTemporary) waiting.push({ names: [String(stranger.name)], giveUp })
    else await guarded(desk, memory, String(stranger.name), () => giveUp(fault('NAME', 'no name that a message has')))
  }
}

/** One file that cannot be handled must not stop the others. Undefined when it failed. */
async function guarded<T>(
  { line, around }: Desk,
  memory: Memory,
  file: string,
  act: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    memory.hasFailed = true
    const detail = failureText(error)
    line.trouble.set('in', `a message failed, and is tried again: ${detail}`)
    around.log.error('filedrop.message.failed', { peer: line.peer, file, detail })
    return undefined
  }
}

/** False when the scan ended early: the rest is left where it lies. */
async function takeAll(
  items: readonly Item[],
  desk: Desk,
  deliver: Deliver,
  memory: Memory,
  waiting: Waiting[],
): Promise<boolean> {
  const { line, around } = desk
  let mayOvertake = true
  let isThrough = true
  for (const item of items) {
    if (memory.isStopped() || isFull(line, around, memory)) return false
    const isPair = item.env !== undefined && item.body !== undefined
    const taken = await guarded(desk, memory, item.stem, () =>
      isPair ? takeIn(item, desk, deliver, mayOvertake) : finishHalf(item, desk),
    )
    if (taken === 'pause' || taken === 'freeze') return false
    if (taken === 'wait') waiting.push({ names: namesOf(item), giveUp: (why) => putAway(item, why, desk) })
    if (taken !== undefined) continue
    // Ordered messages behind it must not overtake it; it is tried again with the next scan.
    mayOvertake = false
    isThrough = false
  }
  return isThrough
}

type Waiting = { readonly names: readonly string[]; readonly giveUp: (why: Fault) => Promise<void> }

function namesOf({ stem, env, body }: Item): string[] {
  return [...(env ? [`${stem}.env`] : []), ...(body ? [`${stem}.body`] : [])]
}

/** Their age is counted by the journal from when they were first seen: times of files are the sender's to choose. */
async function giveUpOn(waiting: readonly Waiting[], desk: Desk, memory: Memory): Promise<void> {
  if (waiting.length === 0 && !memory.hasWaiting) return
  const { journal, clock, settings } = desk.around
  const now = clock.now()
  const since = await journal.waiting(
    desk.place.channel,
    waiting.flatMap(({ names }) => names),
    now,
  )
  memory.hasWaiting = waiting.length > 0
  for (const { names, giveUp } of waiting) {
    const first = Math.min(...names.map((name) => since.get(name) ?? now))
    if (now - first >= settings.truncated_after_ms) {
      await guarded(desk, memory, names.join(' '), () => giveUp(fault('TRUNCATED', 'it never became complete')))
    }
  }
}

async function tellGaps({ line, around, place }: Desk, memory: Memory): Promise<void> {
  const { floor, highest, arrived } = await place.journal.progress(place.channel, place.epoch)
  const missing = highest - floor - arrived
  around.metrics.set(gapGauge, { peer: line.peer }, missing)
  if (missing > memory.missing) {
    const gaps = await around.journal.gaps(place.channel, place.epoch, 16)
    around.log.warn('filedrop.gap', { peer: line.peer, missing, gaps })
    await around.record([
      eventOf(line, 'filedrop.gap.found', place.channel, { epoch: place.epoch, missing, gaps }, around),
    ])
  }
  memory.missing = missing
}

/** Back-pressure: rather no intake than a quarantine that fills the disk, or loses what it holds. */
function isFull(line: Line, { settings, log }: Surroundings, memory: Memory): boolean {
  const isFullNow = stock(line, memory).bytes >= settings.quarantine_max_bytes
  if (isFullNow && line.trouble.get('in') !== full) log.error('filedrop.quarantine.full', { peer: line.peer })
  if (isFullNow) line.trouble.set('in', full)
  return isFullNow
}

const full = 'the quarantine is full; intake stops until it is emptied'

function deskOf(line: Line, around: Surroundings, memory: Memory, peer: Peer, epoch: number): Desk {
  const { journal, signatures, label_policy, site, tenant_id, releasable_names, clock, settings } = around
  const trust: Trust = { signatures, pinned: peer.keys, threshold: peer.threshold }
  const place: Place = {
    site,
    tenant_id,
    releasable_names,
    peer,
    channel: line.channel.in,
    epoch,
    journal,
    label_policy,
    now: clock.now(),
    skew_ms: settings.skew_ms,
    trusted_clock: settings.trusted_clock,
  }
  return {
    line,
    around,
    trust,
    place,
    held: memory.held,
    deferred: memory.deferred,
    async freeze(detail, { statement, digest }) {
      const about = { epoch: statement?.epoch, seq: statement?.seq, digest, detail }
      const event = eventOf(line, 'filedrop.channel.equivocation', line.channel.in, about, around, {
        outcome: 'refused',
      })
      await journal.setState(line.channel.in, 'frozen', detail, [event])
    },
    quarantined(bytes) {
      const held = stock(line, memory)
      memory.stock = { items: held.items + 1, bytes: held.bytes + bytes }
    },
  }
}
