// The receiving half of a line: one scan at a time over what lies there, in the order of the numbers.
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import type { Place, Trust } from '../checks/checks.ts'
import { failureText } from '../failure-text.ts'
import { eventOf, type Line, standing } from '../line.ts'
import { isTemporary } from '../names.ts'
import { type Loop, loop } from '../one-at-a-time.ts'
import { stockOf } from '../quarantine/quarantine.ts'
import { bringBack } from '../quarantine/releasing.ts'
import { fault } from '../reasons.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Deliver } from './delivering.ts'
import { type Dropbox, lookInto, type Stranger } from './dropbox.ts'
import type { ScanDesk } from './fate.ts'
import { type Told, tellGaps, toldNothing } from './gap-alarm.ts'
import { Incomplete } from './incomplete.ts'
import { giveUp, giveUpLapsed } from './lapsing.ts'
import { giveUpLost } from './lost-files.ts'
import { type Silence, silence } from './silence.ts'
import { takeAll } from './sweep.ts'

export type Intake = {
  readonly scanner: Loop
  /** Lies in quarantine now. */
  quarantined(): { items: number; bytes: number }
  /** Messages that wait now for what was sent before them. */
  held(): number
  /** Nothing more is taken in before the quarantine is emptied. */
  isFull(): boolean
  /** Something else than a scan has put an item into quarantine. */
  added(bytes: number): void
  /** Something else than a scan has changed what lies there. */
  recount(): void
}

type Memory = Pick<ScanDesk, 'held' | 'early' | 'deferred'> & {
  waivers: ScanDesk['waivers']
  isStopped: () => boolean
  /** Whether something failed in this scan. */
  hasFailed: boolean
  stock: { items: number; bytes: number } | undefined
  readonly told: Told
  readonly silence: Silence
  readonly incomplete: Incomplete
  /** When the first of it began to wait, in epoch milliseconds; absent when nothing does. */
  waitingSince: number | undefined
}

export function intake(line: Line, around: Surroundings, deliver: Deliver): Intake {
  const memory: Memory = {
    held: new Set(),
    early: new Set(),
    deferred: new Set(),
    waivers: new Map(),
    stock: undefined,
    told: toldNothing(),
    silence: silence(line),
    incomplete: new Incomplete(line.folders),
    waitingSince: undefined,
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
  return {
    scanner,
    quarantined: () => stock(line, memory),
    held: () => memory.held.size + memory.early.size,
    isFull: () => isFull(line, around, memory),
    added: (bytes) => addTo(line, memory, bytes),
    recount() {
      memory.stock = undefined
    },
  }
}

function stock(line: Line, memory: Memory): { items: number; bytes: number } {
  memory.stock ??= stockOf(line.folders.quarantine)
  return memory.stock
}

function addTo(line: Line, memory: Memory, bytes: number): void {
  const held = stock(line, memory)
  memory.stock = { items: held.items + 1, bytes: held.bytes + bytes }
}

async function scan(line: Line, around: Surroundings, deliver: Deliver, memory: Memory): Promise<void> {
  memory.hasFailed = false
  await takeBack(line, around, memory)
  const deskNow = async () => {
    if (memory.isStopped() || isFull(line, around, memory)) return undefined
    const { peer, epoch } = await standing(line, 'in', around)
    return peer && deskOf(line, around, memory, peer, epoch)
  }
  const desk = await deskNow()
  if (!desk) return
  const dropbox = await lookInto(line.folders)
  const { incomplete } = memory
  await giveUpLost(dropbox.items, incomplete, desk)
  incomplete.begin()
  await sortStrangers(dropbox.strangers, desk, memory)
  const { held, deferred, isStopped } = memory
  const isThrough = await takeAll(dropbox.items, {
    ...{ held, deferred, isStopped, deliver, deskNow },
    stillWaits: (item) => incomplete.stillWaits(item),
    waits: (item) => incomplete.enter(item, around.clock.monotonic()),
  })
  await tellGaps(desk, memory.told)
  if (isThrough) await memory.silence.judge(desk)
  if (!isThrough || !(await deskNow())) return
  await tellWaiting(dropbox, desk, memory)
  if (!memory.hasFailed) line.trouble.delete('in')
}

/** Before the look at what lies there, and also when the quarantine is full: this is how it is emptied. */
async function takeBack(line: Line, around: Surroundings, memory: Memory): Promise<void> {
  if (memory.isStopped() || !(await standing(line, 'in', around)).peer) return
  const { waivers, back } = await bringBack(line, around)
  memory.waivers = waivers
  for (const stem of back) memory.deferred.add(stem)
  if (back.length > 0) memory.stock = undefined
}

/** Tells the journal when something has changed, and gives up what has waited too long. */
async function tellWaiting({ items, strangers }: Dropbox, desk: ScanDesk, memory: Memory): Promise<void> {
  const { incomplete } = memory
  const { clock, settings } = desk.around
  incomplete.end()
  const isDue = memory.waitingSince !== undefined && clock.now() - memory.waitingSince >= settings.truncated_after_ms
  if (!incomplete.hasChanged && !isDue) return
  memory.waitingSince = await giveUpLapsed(function* () {
    for (const each of strangers) if (incomplete.waits(each)) yield each
    for (const each of items) if (incomplete.waits(each)) yield each
  }, desk)
  incomplete.hasChanged = desk.isStopped()
}

async function sortStrangers(strangers: readonly Stranger[], desk: ScanDesk, memory: Memory): Promise<void> {
  for (const stranger of strangers) {
    if (memory.isStopped() || isFull(desk.line, desk.around, memory)) return
    if (isTemporary(stranger.bytes)) memory.incomplete.enterStranger(stranger)
    else await giveUp(stranger, fault('NAME', 'no name that a message has'), desk)
  }
}

/** Back-pressure: rather no intake than a quarantine that fills the disk, or loses what it holds. */
function isFull(line: Line, { settings, log }: Surroundings, memory: Memory): boolean {
  const isFullNow = stock(line, memory).bytes >= settings.quarantine_max_bytes
  if (isFullNow && line.trouble.get('in') !== full) log.error('filedrop.quarantine.full', { peer: line.peer })
  if (isFullNow) line.trouble.set('in', full)
  return isFullNow
}

const full = 'the quarantine is full; intake stops until it is emptied'

function deskOf(line: Line, around: Surroundings, memory: Memory, peer: Peer, epoch: number): ScanDesk {
  const { journal, signatures, label_policy, site, tenant_id, releasable_names, clock, settings } = around
  const trust: Trust = { signatures, pinned: peer.keys, threshold: peer.threshold, formats: around.formats }
  const place: Place = {
    site,
    tenant_id,
    releasable_names,
    peer,
    channel: line.channel.in,
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
    epoch,
    held: memory.held,
    early: memory.early,
    deferred: memory.deferred,
    waivers: memory.waivers,
    isStopped: memory.isStopped,
    heard: memory.silence.heard,
    failed() {
      memory.hasFailed = true
    },
    async freeze(detail, { statement, digest }, trace) {
      const about = { epoch: statement?.epoch, seq: statement?.seq, digest, detail }
      const event = eventOf(line, 'filedrop.channel.equivocation', line.channel.in, about, around, {
        outcome: 'refused',
        trace,
      })
      const numbers = statement ? [statement] : []
      const outcome = await journal.dispute(line.channel.in, detail, numbers, [event])
      // Another message once more: people have looked at the number, and not at this.
      if (outcome === 'known') await journal.setState(line.channel.in, 'frozen', detail, [event])
    },
    quarantined: (bytes) => addTo(line, memory, bytes),
  }
}
