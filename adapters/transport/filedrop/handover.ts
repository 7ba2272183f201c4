// Hands messages to a network carrier, and takes from it what came: by the same folders as any courier.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Handover, Landing, Parcel } from '../../../daemon/kernel/carrier.ts'
import { refuse } from '../../../daemon/kernel/errors.ts'
import type { MessageNumber } from '../../../daemon/kernel/journal.ts'
import type { Peer } from '../../../daemon/kernel/peer.ts'
import { removeFrom } from './courier/picked-up.ts'
import { type Line, standing } from './line.ts'
import { fileOf, nameOf, parseName, parts } from './names.ts'
import { oneByOne } from './one-at-a-time.ts'
import { syncFolderLater } from './own-file.ts'
import { countIncoming } from './receiving/incoming-count.ts'
import type { RunningLine } from './running-line.ts'
import { ownMessage } from './sending/own-message.ts'
import { placeFile, publish, stemsInReady } from './sending/publishing.ts'
import type { Surroundings } from './surroundings.ts'

/** Messages that may lie unread here: a peer that sends faster than this site reads is told to wait. */
const most_waiting = 10_000

/** What is read at once; one message may be larger. */
const most_bytes_at_once = 8_388_608

/** Files written side by side: the disk makes them durable together. */
const side_by_side = 16

/** `lineOf`: of a peer that is pinned. `listeners` are told of what is published. */
export function handover(
  around: Surroundings,
  lineOf: (peer: string) => RunningLine,
  listeners: Set<(peer: string) => void>,
): Handover {
  const pinned = async (name: string): Promise<RunningLine> => {
    const peer = await around.peers.get(name)
    if (!peer) throw refuse('not_found', `there is no peer ${name}`)
    return lineOf(peer.name)
  }
  /** Of each peer, one landing after the other: of two parcels under one number the first keeps its name. */
  const landing = new Map<string, ReturnType<typeof oneByOne>>()
  /** Of each peer, what was kept back at the last look, and why. */
  const told = new Map<string, ReadonlyMap<string, string>>()
  return {
    async ready(name, limit, skip = () => false) {
      const { line } = await pinned(name)
      const { peer } = await standing(line, 'out', around)
      if (!peer) return []
      const keptBack = new Map<string, string>()
      const found = await readyParcels({ line, peer, limit, skip, keptBack }, around)
      tellKeptBack(line, keptBack, told.get(name), around)
      told.set(name, keptBack)
      return found
    },
    async leave(name, numbers) {
      const running = await pinned(name)
      removeFrom(running.line.folders.ready, numbers.flatMap(filesOf))
      running.outbox.pickups.trigger()
    },
    async land(name, parcels) {
      const running = await pinned(name)
      const alone = landing.get(name) ?? oneByOne()
      landing.set(name, alone)
      return await alone(() => landNow(running, parcels, around))
    },
    async judged(name) {
      await (await pinned(name)).intake()?.scanner.afterwards()
    },
    onReady(tell) {
      listeners.add(tell)
      return () => void listeners.delete(tell)
    },
  }
}

async function landNow(running: RunningLine, parcels: readonly Parcel[], around: Surroundings): Promise<Landing[]> {
  const { line } = running
  const { peer, state, detail } = await standing(line, 'in', around)
  const intake = running.intake()
  if (!peer || !intake) throw refuse('unavailable', `the channel from ${line.peer} is ${state}: ${detail}`)
  const room = intake.isFull() ? 0 : most_waiting - (await countIncoming(line.folders)).messages
  const landings = await layAll(line, parcels.slice(0, Math.max(0, room)))
  if (landings.length > 0) intake.scanner.trigger()
  return parcels.map((_, index) => landings[index] ?? 'full')
}

type Look = {
  readonly line: Line
  readonly peer: Peer
  readonly limit: number
  readonly skip: (number: MessageNumber) => boolean
  /** Filled in: what stays here, by its name, and why. */
  readonly keptBack: Map<string, string>
}

/** Held to what was signed, as for a courier. Half a message is one that is being published; a faulty one stays. */
async function readyParcels({ line, peer, limit, skip, keptBack }: Look, around: Surroundings): Promise<Parcel[]> {
  const found: Parcel[] = []
  let size = 0
  for (const stem of [...stemsInReady(line.folders)].sort()) {
    if (found.length === limit || size >= most_bytes_at_once) break
    const name = parseName(fileOf(stem, 'env'))
    if (!name || skip(name)) continue
    const read = () => ownMessage(line.folders.ready, name, undefined, { line, peer }, around)
    let bytes = await read()
    if (bytes === 'lost' && (await isMadeWhole(line, name, around))) bytes = await read()
    if (typeof bytes === 'string') {
      if (bytes !== 'lost') keptBack.set(stem, bytes)
      continue
    }
    const { epoch, seq } = name
    size += bytes.envelope.length + bytes.body.length
    found.push({ epoch, seq, envelope: Buffer.from(bytes.envelope), body: Buffer.from(bytes.body) })
  }
  return found
}

/** A death between the removal of its two files leaves half of a message that has left: it goes again, as a double. */
async function isMadeWhole(line: Line, { epoch, seq }: MessageNumber, around: Surroundings): Promise<boolean> {
  const [entry] = await around.journal.sentRun(line.channel.out, epoch, seq, seq, 1)
  const message = entry?.state === 'PUBLISHED' ? await around.journal.get(line.channel.out, epoch, seq) : undefined
  if (!message) return false
  await publish(line.folders, message, around.reached)
  return true
}

function tellKeptBack(
  { peer }: Line,
  now: ReadonlyMap<string, string>,
  before: ReadonlyMap<string, string> | undefined,
  { log }: Surroundings,
): void {
  for (const [stem, why] of now) {
    if (before?.get(stem) !== why) log.error('filedrop.message.kept_back', { peer, stem, why })
  }
}

function filesOf({ epoch, seq }: MessageNumber): { name: string }[] {
  return parts.map((part) => ({ name: fileOf(nameOf(epoch, seq).stem, part) }))
}

async function layAll(line: Line, parcels: readonly Parcel[]): Promise<Landing[]> {
  const landings: Landing[] = []
  for (const wave of wavesOf(parcels)) {
    const laid = await Promise.allSettled(wave.map((each) => lay(line, each)))
    for (const each of laid) {
      if (each.status === 'rejected') throw each.reason
      landings.push(each.value)
    }
  }
  if (parcels.length > 0) await syncFolderLater(line.folders.fresh)
  return landings
}

/** Those that are laid side by side, in the order given: no number twice. */
function wavesOf(parcels: readonly Parcel[]): Parcel[][] {
  const waves: Parcel[][] = []
  let stems = new Set<string>()
  for (const parcel of parcels) {
    const { stem } = nameOf(parcel.epoch, parcel.seq)
    if (waves.length === 0 || stems.size === side_by_side || stems.has(stem)) {
      waves.push([])
      stems = new Set()
    }
    stems.add(stem)
    waves.at(-1)?.push(parcel)
  }
  return waves
}

/** The body first, as every carrier does. */
async function lay({ folders }: Line, { epoch, seq, envelope, body }: Parcel): Promise<Landing> {
  const { stem } = nameOf(epoch, seq)
  for (const part of parts) {
    const draft = join(folders.tmp, `land-${randomBytes(8).toString('hex')}`)
    const bytes = Buffer.from(part === 'env' ? envelope : body)
    if ((await placeFile(draft, join(folders.fresh, fileOf(stem, part)), bytes)) === 'different') return 'in_the_way'
  }
  return 'landed'
}
