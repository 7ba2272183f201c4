// Writes messages from a network carrier to the incoming folder. Incomplete ones go straight to quarantine.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { refuse } from '../../../../daemon/kernel/error/errors.ts'
import type { CarriedMessage, CarryOutcome } from '../../../../daemon/kernel/messaging/carrier.ts'
import { newTrace } from '../../../../daemon/kernel/telemetry/trace.ts'
import { syncFolderAsync } from '../../../platform/durable-file/sync-folder.ts'
import { describeMissing, readClaims } from '../checks/completeness.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { readDroppedFile } from '../files/dropped-file.ts'
import { type MessagePart, messageName, messageParts, partFileName } from '../files/message-name.ts'
import { placeFile } from '../files/place-file.ts'
import { checkChannelState, type FiledropLink } from '../link/filedrop-link.ts'
import type { FiledropLinkRuntime } from '../link/link-runtime.ts'
import { type QuarantineSource, quarantineFiles } from '../quarantine/quarantine-files.ts'
import { newRecord, quarantinedEvent, reportQuarantined } from '../quarantine/quarantine-message.ts'
import { fault } from '../quarantine-reasons.ts'
import type { Intake } from './intake.ts'
import { countIncoming } from './scan/incoming-count.ts'

/** Unread messages allowed in the folder. A peer that sends faster than this site reads must wait. */
const max_waiting_messages = 10_000

/** Files written in parallel: the disk syncs them together. */
const max_parallel_writes = 16

type LandingContext = { readonly link: FiledropLink; readonly intake: Intake; readonly filedrop: FiledropContext }

/** See `Handover.land`; one call after the other. */
export async function landParcels(
  { link, intake: its }: FiledropLinkRuntime,
  parcels: readonly CarriedMessage[],
  filedrop: FiledropContext,
): Promise<CarryOutcome[]> {
  const { peer, state, detail } = await checkChannelState(link, 'in', filedrop)
  const intake = its()
  if (!peer || !intake) throw refuse('unavailable', `the channel from ${link.peer} is ${state}: ${detail}`)
  const place: LandingContext = { link, intake, filedrop }
  const fitting = parcels.filter((each) => isWithinLimits(each, filedrop))
  // What waits for a role has a limit of its own, and must not keep other messages out.
  const aside = intake.pending().filter(({ waits_for }) => waits_for === 'role').length
  const unread = (await countIncoming(link.folders)).messages - aside
  const room = intake.isFull() ? 0 : max_waiting_messages - unread
  const landings = await writeParcels(place, fitting.slice(0, Math.max(0, room)))
  if (landings.length > 0) intake.scanLoop.trigger()
  const next = landings.values()
  return parcels.map((each) => (isWithinLimits(each, filedrop) ? (next.next().value ?? 'full') : 'too_large'))
}

function isWithinLimits({ envelope, body }: CarriedMessage, { settings }: FiledropContext): boolean {
  return envelope.byteLength <= settings.max_envelope_bytes && body.byteLength <= settings.max_body_bytes
}

async function writeParcels(context: LandingContext, parcels: readonly CarriedMessage[]): Promise<CarryOutcome[]> {
  const landings: CarryOutcome[] = []
  for (const wave of splitIntoWaves(parcels)) {
    const laid = await Promise.allSettled(wave.map((each) => writeOrQuarantine(context, each)))
    for (const each of laid) {
      if (each.status === 'rejected') throw each.reason
      landings.push(each.value)
    }
  }
  if (parcels.length > 0) await syncFolderAsync(context.link.folders.fresh)
  return landings
}

/** Splits parcels into groups that are written in parallel, in order: no number twice in one group. */
function splitIntoWaves(parcels: readonly CarriedMessage[]): CarriedMessage[][] {
  const waves: CarriedMessage[][] = []
  let stems = new Set<string>()
  for (const parcel of parcels) {
    const { stem } = messageName(parcel.epoch, parcel.seq)
    if (waves.length === 0 || stems.size === max_parallel_writes || stems.has(stem)) {
      waves.push([])
      stems = new Set()
    }
    stems.add(stem)
    waves.at(-1)?.push(parcel)
  }
  return waves
}

async function writeOrQuarantine(context: LandingContext, parcel: CarriedMessage): Promise<CarryOutcome> {
  const claims = readClaims({ bytes: toBuffer(parcel.envelope), inode: 0 })
  const lack = describeMissing(claims, parcel.body.byteLength, context.filedrop.settings)
  if (lack === undefined) return await writeParcel(context, parcel)
  await quarantineHalf(context, parcel, lack)
  return 'landed'
}

/** The body first, as every carrier does. */
async function writeParcel({ link, filedrop }: LandingContext, parcel: CarriedMessage): Promise<CarryOutcome> {
  const { folders } = link
  const { stem } = messageName(parcel.epoch, parcel.seq)
  // Write nothing beside the envelope of another message.
  const there = readDroppedFile(join(folders.fresh, partFileName(stem, 'env')), filedrop.settings.max_envelope_bytes)
  if (!('gone' in there) && !('bytes' in there && there.bytes.equals(parcel.envelope))) return 'in_the_way'
  // The intake may take the one while the other is laid, which alone would wait here for long.
  for (let isHalf = true; isHalf; ) {
    const placed = new Set<string>()
    for (const part of messageParts) {
      const found = await placeFile(
        draftPath(folders.tmp),
        join(folders.fresh, partFileName(stem, part)),
        partBytes(parcel, part),
      )
      if (found === 'different') return 'in_the_way'
      placed.add(found)
    }
    isHalf = placed.size === 2
  }
  return 'landed'
}

/** Records the audit event first. The number stays free for the genuine message. */
async function quarantineHalf(
  { link, intake, filedrop }: LandingContext,
  parcel: CarriedMessage,
  lack: string,
): Promise<void> {
  const { epoch, seq, body } = parcel
  const { stem } = messageName(epoch, seq)
  const why = fault('TRUNCATED', lack)
  const where = { peer: link.peer, channel: link.channel.in, epoch, seq }
  const report = { link, filedrop, trace: newTrace(filedrop.random) }
  // A purged body is not stored again by way of a broken envelope.
  const digest = sha384(body)
  const isPurged = (await filedrop.purges.all()).has(digest)
  const files: QuarantineSource[] = []
  for (const part of isPurged ? (['env'] as const) : messageParts) {
    const path = draftPath(link.folders.tmp)
    await placeFile(draftPath(link.folders.tmp), path, partBytes(parcel, part))
    files.push({ path, was: partFileName(stem, part), as: `${part}.json`, bytes: partBytes(parcel, part) })
  }
  const record = { ...newRecord(stem, why, files, filedrop), audit: quarantinedEvent(stem, why, where, report) }
  const [entry] = await filedrop.journal.recordQuarantined(link.channel.in, [record])
  if (entry?.is_new) reportQuarantined(stem, why, report)
  const found = { places: [`${link.peer}/in/new/${partFileName(stem, 'body')}`], msg_ids: [], sessions: [] }
  if (isPurged) await filedrop.journal.addPurgeFinds(digest, found)
  const about = { ...where, id: entry?.item ?? record.item, fault: why, now: filedrop.clock.now() }
  const { bytes } = quarantineFiles(link.folders.quarantine, about, files, filedrop.passFaultPoint)
  if (bytes > 0) intake.noteQuarantined(bytes)
}

function draftPath(folder: string): string {
  return join(folder, `land-${randomBytes(8).toString('hex')}`)
}

function partBytes({ envelope, body }: CarriedMessage, part: MessagePart): Buffer {
  return toBuffer(part === 'env' ? envelope : body)
}

/** The same bytes, not copied. */
function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
