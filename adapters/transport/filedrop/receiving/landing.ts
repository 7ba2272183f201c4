// Lays what a network brings where the intake looks. It comes whole or never will: half a message does not lie waiting here.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { sha384 } from '../../../../daemon/kernel/canonical.ts'
import type { Landing, Parcel } from '../../../../daemon/kernel/carrier.ts'
import { refuse } from '../../../../daemon/kernel/errors.ts'
import { newTrace } from '../../../../daemon/kernel/trace.ts'
import { claimsOf, lackOf } from '../checks/completeness.ts'
import { readDropped } from '../checks/dropped-file.ts'
import { type Line, standing } from '../line.ts'
import { fileOf, nameOf, type Part, parts } from '../names.ts'
import { syncFolderLater } from '../own-file.ts'
import { type Moved, quarantine } from '../quarantine/quarantine.ts'
import { fault } from '../reasons.ts'
import type { RunningLine } from '../running-line.ts'
import { placeFile } from '../sending/publishing.ts'
import type { Surroundings } from '../surroundings.ts'
import { quarantinedEvent, tellPutAway } from './fate.ts'
import { countIncoming } from './incoming-count.ts'
import type { Intake } from './intake.ts'

/** Messages that may lie unread here: a peer that sends faster than this site reads is told to wait. */
const most_waiting = 10_000

/** Files written side by side: the disk makes them durable together. */
const side_by_side = 16

type Place = { readonly line: Line; readonly intake: Intake; readonly around: Surroundings }

/** See `Handover.land`; one call after the other. */
export async function landAll(
  { line, intake: its }: RunningLine,
  parcels: readonly Parcel[],
  around: Surroundings,
): Promise<Landing[]> {
  const { peer, state, detail } = await standing(line, 'in', around)
  const intake = its()
  if (!peer || !intake) throw refuse('unavailable', `the channel from ${line.peer} is ${state}: ${detail}`)
  const place: Place = { line, intake, around }
  const fitting = parcels.filter((each) => fits(each, around))
  const room = intake.isFull() ? 0 : most_waiting - (await countIncoming(line.folders)).messages
  const landings = await layAll(place, fitting.slice(0, Math.max(0, room)))
  if (landings.length > 0) intake.scanner.trigger()
  const next = landings.values()
  return parcels.map((each) => (fits(each, around) ? (next.next().value ?? 'full') : 'too_large'))
}

function fits({ envelope, body }: Parcel, { settings }: Surroundings): boolean {
  return envelope.byteLength <= settings.max_envelope_bytes && body.byteLength <= settings.max_body_bytes
}

async function layAll(place: Place, parcels: readonly Parcel[]): Promise<Landing[]> {
  const landings: Landing[] = []
  for (const wave of wavesOf(parcels)) {
    const laid = await Promise.allSettled(wave.map((each) => layOrPutAway(place, each)))
    for (const each of laid) {
      if (each.status === 'rejected') throw each.reason
      landings.push(each.value)
    }
  }
  if (parcels.length > 0) await syncFolderLater(place.line.folders.fresh)
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

async function layOrPutAway(place: Place, parcel: Parcel): Promise<Landing> {
  const claims = claimsOf({ bytes: viewOf(parcel.envelope), inode: 0 })
  const lack = lackOf(claims, parcel.body.byteLength, place.around.settings)
  if (lack === undefined) return await lay(place, parcel)
  await putAwayHalf(place, parcel, lack)
  return 'landed'
}

/** The body first, as every carrier does. */
async function lay({ line, around }: Place, parcel: Parcel): Promise<Landing> {
  const { folders } = line
  const { stem } = nameOf(parcel.epoch, parcel.seq)
  // Beside the envelope of another message not even the body is laid.
  const there = readDropped(join(folders.fresh, fileOf(stem, 'env')), around.settings.max_envelope_bytes)
  if (!('gone' in there) && !('bytes' in there && there.bytes.equals(parcel.envelope))) return 'in_the_way'
  // The intake may take the one while the other is laid, which alone would wait here for long.
  for (let isHalf = true; isHalf; ) {
    const placed = new Set<string>()
    for (const part of parts) {
      const found = await placeFile(
        draftIn(folders.tmp),
        join(folders.fresh, fileOf(stem, part)),
        bytesOf(parcel, part),
      )
      if (found === 'different') return 'in_the_way'
      placed.add(found)
    }
    isHalf = placed.size === 2
  }
  return 'landed'
}

/** Audited first, as everything that goes to quarantine. Its number is free for the message that it claims to be. */
async function putAwayHalf({ line, intake, around }: Place, parcel: Parcel, lack: string): Promise<void> {
  const { epoch, seq, body } = parcel
  const { stem } = nameOf(epoch, seq)
  const why = fault('TRUNCATED', lack)
  const where = { peer: line.peer, channel: line.channel.in, epoch, seq }
  const telling = { line, around, trace: newTrace(around.random) }
  // A body that people have had removed does not come to rest here by way of a broken envelope.
  const digest = sha384(body)
  const isPurged = (await around.purges.all()).has(digest)
  const files: Moved[] = []
  for (const part of isPurged ? (['env'] as const) : parts) {
    const path = draftIn(line.folders.tmp)
    await placeFile(draftIn(line.folders.tmp), path, bytesOf(parcel, part))
    files.push({ path, was: fileOf(stem, part), as: `${part}.json` })
  }
  await around.record([quarantinedEvent(stem, why, where, telling)])
  tellPutAway(stem, why, telling)
  const told = { places: [`${line.peer}/in/new/${fileOf(stem, 'body')}`], msg_ids: [], sessions: [] }
  if (isPurged) await around.journal.addPurgeFinds(digest, told)
  const about = { ...where, stem, fault: why, now: around.clock.now(), mark: around.random(4) }
  intake.added(quarantine(line.folders.quarantine, about, files, around.reached))
}

function draftIn(folder: string): string {
  return join(folder, `land-${randomBytes(8).toString('hex')}`)
}

function bytesOf({ envelope, body }: Parcel, part: Part): Buffer {
  return viewOf(part === 'env' ? envelope : body)
}

/** The same bytes, not copied. */
function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
