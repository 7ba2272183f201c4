// One walk over the messages that lie there, in the order of their numbers: in batches, but for what needs its own care.
import { setImmediate as othersTurn } from 'node:timers/promises'
import { guarded } from '../accident.ts'
import { waiverFor } from '../quarantine/releasing.ts'
import type { Candidate } from './candidate.ts'
import { collect, isInWork } from './collecting.ts'
import type { Deliver } from './delivering.ts'
import type { Item } from './dropbox.ts'
import { type Desk, type ScanDesk, traced } from './fate.ts'
import { verifyAll } from './judging.ts'
import { isHeld, isPoison } from './lingering.ts'
import { finishHalf } from './stray-files.ts'
import { takeIn } from './taking-in.ts'

/** What is taken in by the same commits at most. The bytes of the files bound what is in memory. */
const max_messages = 128
const max_bytes = 8 * 1_048_576

/** What is looked at before others get their turn: some milliseconds of work. */
const step = 64

export type Walk = Pick<ScanDesk, 'held' | 'deferred' | 'isStopped'> & {
  readonly deliver: Deliver
  /** The channel as it stands now; undefined when nothing may be taken in. */
  readonly deskNow: () => Promise<ScanDesk | undefined>
  /** Whether it is as incomplete as it was before, and need not be opened; it is told of by this. */
  readonly stillWaits: (item: Item) => boolean
  /** Told of a message that was found not to be complete. */
  readonly waits: (item: Item) => void
}

/** False when it ended early, or something failed: the rest is left where it lies, for the next one. */
export async function takeAll(items: Iterable<Item>, walk: Walk): Promise<boolean> {
  return await new Sweep(walk).over(items)
}

type Begun = {
  readonly batch: readonly Candidate[]
  readonly desk: ScanDesk
  readonly verified: Promise<void>
}

/** While one batch is taken in, the signatures of the next are verified by other threads. */
class Sweep {
  readonly #walk: Walk
  #desk: ScanDesk | undefined
  #batch: Candidate[] = []
  #bytes = 0
  #begun: Begun | undefined
  #mayOvertake = true
  #isOver = false

  constructor(walk: Walk) {
    this.#walk = walk
  }

  async over(items: Iterable<Item>): Promise<boolean> {
    const isThrough = await this.#gather(items)
    await this.#finishAll()
    return isThrough && this.#mayOvertake && !this.#isOver
  }

  async #gather(items: Iterable<Item>): Promise<boolean> {
    let looked = 0
    for (const item of items) {
      if (++looked % step === 0) await othersTurn()
      if (this.#walk.isStopped()) return false
      if (this.#walk.stillWaits(item)) continue
      if (this.#isAlone(item)) await this.#finishAll()
      else if (this.#batch.length >= max_messages || this.#bytes >= max_bytes) await this.#begin()
      if (this.#isOver) return false
      this.#desk ??= await this.#walk.deskNow()
      if (!this.#desk) return false
      await this.#take(item, traced(this.#desk))
    }
    return true
  }

  /** Halves, and what lingers in `work`, are seen to when all before them is done. */
  #isAlone(item: Item): boolean {
    return !isWhole(item) || (isInWork(item) && !this.#walk.deferred.has(item.stem))
  }

  async #take(item: Item, desk: Desk): Promise<void> {
    const found = await guarded(desk, item.stem, () => this.#look(item, desk))
    if (found === undefined) await this.#fail()
    else if (found === 'wait') this.#walk.waits(item)
    else if (found !== 'done') await this.#add(found)
  }

  async #look(item: Item, desk: Desk): Promise<Candidate | 'wait' | 'done'> {
    if (!isWhole(item)) return await finishHalf(item, desk)
    if (!this.#isAlone(item)) return collect(item, desk)
    const wasHeld = desk.held.has(item.stem) || desk.early.has(item.stem)
    if (await isHeld(item, desk)) return 'done'
    if (!wasHeld && (await isPoison(item, desk))) return 'done'
    return collect(item, desk, !wasHeld)
  }

  async #add(candidate: Candidate): Promise<void> {
    const { item, desk, specimen } = candidate
    const waiver = waiverFor(specimen, desk.waivers.get(item.stem))
    if (waiver) specimen.waiver = waiver
    if (changesTrust(candidate)) return await this.#addAlone(candidate)
    const { envelope, body } = specimen
    for (const file of [envelope, body]) if ('bytes' in file) this.#bytes += file.bytes.length
    this.#batch.push(candidate)
    // In a batch of its own, what it brings about is laid to no other.
    if (candidate.isSuspect) await this.#finishAll()
  }

  /** What it says counts for those behind it, and what was said before counts for it. */
  async #addAlone(candidate: Candidate): Promise<void> {
    await this.#finishAll()
    this.#desk = this.#isOver ? undefined : await this.#walk.deskNow()
    if (!this.#desk) return void candidate.desk.deferred.add(candidate.item.stem)
    this.#batch.push({ ...candidate, desk: traced(this.#desk) })
    await this.#finishAll()
  }

  /** Begins the batch that was gathered, and finishes the one that was begun before. */
  async #begin(): Promise<void> {
    const [batch, desk, before] = [this.#batch, this.#desk, this.#begun]
    this.#batch = []
    this.#bytes = 0
    this.#desk = undefined
    this.#begun = desk && batch.length > 0 ? { batch, desk, verified: verifyAll(batch) } : undefined
    if (before) await this.#finish(before)
  }

  async #finishAll(): Promise<void> {
    await this.#begin()
    await this.#begin()
  }

  async #finish({ batch, desk, verified }: Begun): Promise<void> {
    const [first] = batch
    await verified
    if (!first || this.#isOver) return putOff(batch)
    const { deliver } = this.#walk
    const take = () => takeIn(batch, desk, deliver, this.#mayOvertake)
    const taken = await guarded(first.desk, first.item.stem, take, () => putOff(batch))
    if (!taken || taken.hasFailed) this.#mayOvertake = false
    if (taken?.end) this.#isOver = true
  }

  /** Ordered messages behind it must not overtake it; it is tried again with the next scan. */
  async #fail(): Promise<void> {
    await this.#finishAll()
    this.#mayOvertake = false
  }
}

/** Unverified: whoever claims it falsely is refused, and has only made itself wait. */
function changesTrust({ specimen }: Candidate): boolean {
  return specimen.claims?.kind === 'keys'
}

function putOff(batch: readonly Candidate[]): void {
  for (const { item, desk } of batch) desk.deferred.add(item.stem)
}

function isWhole({ env, body }: Item): boolean {
  return env !== undefined && body !== undefined
}
