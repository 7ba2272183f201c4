// Gives a network what lies ready for a peer, for as long as it takes it there: called back the moment it may not leave any more.
import * as fs from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Handed, Handing, Parcel } from '../../../../daemon/kernel/carrier.ts'
import type { MessageNumber } from '../../../../daemon/kernel/journal.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import { removeFrom } from '../courier/picked-up.ts'
import { failureText } from '../failure-text.ts'
import { type Line, standing } from '../line.ts'
import { fileOf, type MessageName, nameOf, parseName, parts, pathIn } from '../names.ts'
import { digestsOf } from '../quarantine/purge-orders.ts'
import type { RunningLine } from '../running-line.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Claim } from './claims.ts'
import { type Bytes, ownMessage } from './own-message.ts'
import { publish, stemsInReady } from './publishing.ts'
import { type Room, room } from './room.ts'

/** What is handed over at once: so many bytes, or one message that is larger. */
const most_bytes_at_once = 2_097_152

/** In memory for all peers together; large messages are apart, so that they hold up no small ones. */
const most_bytes = 16_777_216

/** How often it is asked whether the messages in hand may still leave: other processes change what is pinned. */
const look_again_ms = 100

export type Desk = {
  readonly around: Surroundings
  readonly small: Room
  readonly large: Room
  /** Of each peer, what is kept back and why, as it was told. */
  readonly told: Map<string, Map<string, string>>
}

export function handingDesk(around: Surroundings): Desk {
  return { around, small: room(most_bytes), large: room(most_bytes), told: new Map() }
}

/** See `Handover.hand`. */
export async function hand(
  running: RunningLine,
  { limit, skip = () => false, carry }: Handing,
  desk: Desk,
): Promise<readonly Handed[]> {
  const { names, bytes } = pick(running.line, limit, skip, desk.around)
  if (names.length === 0) return []
  const leaveRoom = await (bytes > most_bytes_at_once ? desk.large : desk.small).take(bytes)
  try {
    return await desk.around.claims.hold(running.line.peer, (claim) => handNow(running, names, carry, claim, desk))
  } finally {
    leaveRoom()
  }
}

type Picked = { readonly names: readonly MessageName[]; readonly bytes: number }

/** By what the folder says of the files: none is read before there is room for it. */
function pick(line: Line, limit: number, skip: (number: MessageNumber) => boolean, { settings }: Surroundings): Picked {
  const { max_envelope_bytes, max_body_bytes } = settings
  const names: MessageName[] = []
  let bytes = 0
  for (const stem of [...stemsInReady(line.folders)].sort()) {
    if (names.length === limit) break
    const name = parseName(fileOf(stem, 'env'))
    if (!name || skip(name)) continue
    const own = Math.min(sizeOf(line, stem), max_envelope_bytes + max_body_bytes)
    if (names.length > 0 && bytes + own > most_bytes_at_once) break
    names.push(name)
    bytes += own
  }
  return { names, bytes }
}

function sizeOf({ folders }: Line, stem: string): number {
  const sizes = parts.map((part) => fs.lstatSync(pathIn(folders.ready, stem, part), { throwIfNoEntry: false })?.size)
  return sizes.reduce<number>((sum, size = 0) => sum + size, 0)
}

async function handNow(
  running: RunningLine,
  names: readonly MessageName[],
  carry: Handing['carry'],
  claim: Claim,
  desk: Desk,
): Promise<readonly Handed[]> {
  const { line, outbox } = running
  const { peer } = await standing(line, 'out', desk.around)
  if (!peer) return []
  const { parcels, kept } = await readAll(names, { line, peer }, desk)
  if (claim.signal.aborted) return []
  claim.parcels = parcels
  const endWatch = watch(line, peer, claim, desk.around)
  try {
    const landings = parcels.length === 0 ? [] : await carry(parcels, claim.signal)
    const handed = parcels.map(({ epoch, seq }, at): Handed => ({ epoch, seq, landing: landings[at] ?? 'full' }))
    leave(running, handed)
    return [...handed, ...kept]
  } catch (error) {
    if (!claim.signal.aborted) throw error
    desk.around.log.warn('filedrop.messages.called_back', { peer: line.peer, messages: parcels.length })
    // Some of them may leave after all.
    desk.around.published(line.peer)
    return []
  } finally {
    endWatch()
    outbox.pickups.trigger()
  }
}

/** The peer's site has these: they are not offered again, and kept as what a courier took is. */
function leave({ line }: RunningLine, handed: readonly Handed[]): void {
  const gone = handed.filter(({ landing }) => landing === 'landed')
  if (gone.length > 0) removeFrom(line.folders.ready, gone.flatMap(filesOf))
}

function filesOf({ epoch, seq }: MessageNumber): { name: string }[] {
  return parts.map((part) => ({ name: fileOf(nameOf(epoch, seq).stem, part) }))
}

/** Calls the messages back when the peer is pinned otherwise than when they were read, or the channel stands. */
function watch(line: Line, peer: Peer, claim: Claim, around: Surroundings): () => void {
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    const now = await standing(line, 'out', around).catch((error: unknown) => {
      around.log.warn('filedrop.channel.unknown', { peer: line.peer, detail: failureText(error) })
    })
    if (!isDeepStrictEqual(now?.peer, peer)) claim.callBack()
    isLooking = false
  }
  const timer = setInterval(() => void look(), look_again_ms)
  return () => clearInterval(timer)
}

type Towards = { readonly line: Line; readonly peer: Peer }

/** Held to what was signed, as for a courier. Half a message is one that is being published; a faulty one stays. */
async function readAll(names: readonly MessageName[], towards: Towards, { around, told }: Desk) {
  const { line } = towards
  const parcels: Parcel[] = []
  const kept: Handed[] = []
  const why = told.get(line.peer) ?? new Map<string, string>()
  told.set(line.peer, why)
  for (const name of names) {
    const { epoch, seq, stem } = name
    const bytes = await readOwn(name, towards, around)
    if (typeof bytes !== 'string') {
      why.delete(stem)
      parcels.push({ epoch, seq, envelope: Buffer.from(bytes.envelope), body: Buffer.from(bytes.body) })
      continue
    }
    kept.push({ epoch, seq, landing: 'kept_back' })
    if (bytes === 'lost' || why.get(stem) === bytes) continue
    why.set(stem, bytes)
    around.log.error('filedrop.message.kept_back', { peer: line.peer, stem, why: bytes })
  }
  return { parcels, kept }
}

async function readOwn(name: MessageName, towards: Towards, around: Surroundings): Promise<Bytes | string> {
  const { line } = towards
  const read = () => ownMessage(line.folders.ready, name, undefined, towards, around)
  let bytes = await read()
  if (bytes === 'lost' && (await isMadeWhole(line, name, around))) bytes = await read()
  return typeof bytes !== 'string' && (await isPurged(bytes, around)) ? 'purged' : bytes
}

/** People have ordered it away, and it has not been removed yet. */
async function isPurged(message: Bytes, { purges }: Surroundings): Promise<boolean> {
  const orders = await purges.all()
  return orders.size > 0 && digestsOf(message).some((digest) => orders.has(digest))
}

/** A death between the removal of its two files leaves half of a message that has left: it goes again, as a double. */
async function isMadeWhole(line: Line, { epoch, seq }: MessageNumber, around: Surroundings): Promise<boolean> {
  const [entry] = await around.journal.sentRun(line.channel.out, epoch, seq, seq, 1)
  const message = entry?.state === 'PUBLISHED' ? await around.journal.get(line.channel.out, epoch, seq) : undefined
  if (!message) return false
  await publish(line.folders, message, around.reached)
  return true
}
