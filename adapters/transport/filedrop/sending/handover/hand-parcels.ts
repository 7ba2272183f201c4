// Hands ready messages to a network carrier, and recalls them as soon as they may not leave any more.
import * as fs from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { Peer } from '../../../../../daemon/kernel/identity/peer.ts'
import type { CarriedMessage, HandoverRequest, HandoverResult } from '../../../../../daemon/kernel/messaging/carrier.ts'
import type { MessageNumber } from '../../../../../daemon/kernel/messaging/journal.ts'
import { describeFailure } from '../../failure-text.ts'
import type { FiledropContext } from '../../filedrop-context.ts'
import {
  type MessageName,
  messageName,
  messageParts,
  parseMessageName,
  partFileName,
  partPath,
} from '../../files/message-name.ts'
import { checkChannelState, type FiledropLink } from '../../link/filedrop-link.ts'
import type { FiledropLinkRuntime } from '../../link/link-runtime.ts'
import { purgeableDigests } from '../../quarantine/purge-orders.ts'
import { type MessageBytes, type OutgoingLink, readOwnMessage } from '../own-message.ts'
import { listReadyStems, publishMessage, removeFromReady } from '../publish-message.ts'
import { type MemoryBudget, memoryBudget } from './memory-budget.ts'
import type { ParcelClaim } from './parcel-claims.ts'

/** Bytes that are handed over at once, or one larger message. */
const max_batch_bytes = 2_097_152

/** In memory for all peers together; large messages are apart, so that they hold up no small ones. */
const max_memory_bytes = 16_777_216

/** Interval of checks that the messages in hand may still leave: other processes change pinned peers. */
const recheck_interval_ms = 100

export type HandoverContext = {
  readonly filedrop: FiledropContext
  readonly small: MemoryBudget
  readonly large: MemoryBudget
  /** By peer, the withheld messages and reasons that were reported. */
  readonly reported: Map<string, Map<string, string>>
}

export function handoverContext(filedrop: FiledropContext): HandoverContext {
  return { filedrop, small: memoryBudget(max_memory_bytes), large: memoryBudget(max_memory_bytes), reported: new Map() }
}

/** See `Handover.offer`. */
export async function handParcels(
  running: FiledropLinkRuntime,
  { limit, skip = () => false, carry }: HandoverRequest,
  context: HandoverContext,
): Promise<readonly HandoverResult[]> {
  const { names, bytes } = selectParcels(running.link, limit, skip, context.filedrop)
  if (names.length === 0) return []
  const leaveRoom = await (bytes > max_batch_bytes ? context.large : context.small).reserve(bytes)
  try {
    return await context.filedrop.claims.hold(running.link.peer, (claim) =>
      handSelected(running, names, carry, claim, context),
    )
  } finally {
    leaveRoom()
  }
}

type ParcelSelection = { readonly names: readonly MessageName[]; readonly bytes: number }

/** By what the folder says of the files: none is read before there is room for it. */
function selectParcels(
  link: FiledropLink,
  limit: number,
  skip: (number: MessageNumber) => boolean,
  { settings }: FiledropContext,
): ParcelSelection {
  const { max_envelope_bytes, max_body_bytes } = settings
  const names: MessageName[] = []
  let bytes = 0
  for (const stem of [...listReadyStems(link.folders)].sort()) {
    if (names.length === limit) break
    const name = parseMessageName(partFileName(stem, 'env'))
    if (!name || skip(name)) continue
    const own = Math.min(messageSize(link, stem), max_envelope_bytes + max_body_bytes)
    if (names.length > 0 && bytes + own > max_batch_bytes) break
    names.push(name)
    bytes += own
  }
  return { names, bytes }
}

function messageSize({ folders }: FiledropLink, stem: string): number {
  const sizes = messageParts.map(
    (part) => fs.lstatSync(partPath(folders.ready, stem, part), { throwIfNoEntry: false })?.size,
  )
  return sizes.reduce<number>((sum, size = 0) => sum + size, 0)
}

async function handSelected(
  running: FiledropLinkRuntime,
  names: readonly MessageName[],
  carry: HandoverRequest['carry'],
  claim: ParcelClaim,
  context: HandoverContext,
): Promise<readonly HandoverResult[]> {
  const { link, outbox } = running
  const { peer } = await checkChannelState(link, 'out', context.filedrop)
  if (!peer) return []
  const { parcels, kept } = await readParcels(names, { link, peer }, context)
  if (claim.signal.aborted) return []
  claim.parcels = parcels
  const endWatch = watchPermission(link, peer, claim, context.filedrop)
  try {
    const landings = parcels.length === 0 ? [] : await carry(parcels, claim.signal)
    const handed = parcels.map(
      ({ epoch, seq }, at): HandoverResult => ({ epoch, seq, outcome: landings[at] ?? 'full' }),
    )
    removeLanded(running, handed)
    return [...handed, ...kept]
  } catch (error) {
    if (!claim.signal.aborted) throw error
    context.filedrop.log.warn('filedrop.messages.recalled', { peer: link.peer, messages: parcels.length })
    // Some of them may leave after all.
    context.filedrop.onPublished(link.peer)
    return []
  } finally {
    endWatch()
    outbox.pickups.trigger()
  }
}

/** The peer's site has these: they are not offered again, and kept as what a courier took is. */
function removeLanded({ link }: FiledropLinkRuntime, handed: readonly HandoverResult[]): void {
  const gone = handed.filter(({ outcome }) => outcome === 'landed')
  if (gone.length > 0) removeFromReady(link.folders.ready, gone.flatMap(messageFileNames))
}

function messageFileNames({ epoch, seq }: MessageNumber): { name: string }[] {
  return messageParts.map((part) => ({ name: partFileName(messageName(epoch, seq).stem, part) }))
}

/** Calls the messages back when the peer is pinned otherwise than when they were read, or the channel stands. */
function watchPermission(link: FiledropLink, peer: Peer, claim: ParcelClaim, filedrop: FiledropContext): () => void {
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    const now = await checkChannelState(link, 'out', filedrop).catch((error: unknown) => {
      filedrop.log.warn('filedrop.channel.unknown', { peer: link.peer, detail: describeFailure(error) })
    })
    if (!isDeepStrictEqual(now?.peer, peer)) claim.recall()
    isLooking = false
  }
  const timer = setInterval(() => void look(), recheck_interval_ms)
  return () => clearInterval(timer)
}

/** Held to what was signed, as for a courier. Half a message is one that is being published; a faulty one stays. */
async function readParcels(
  names: readonly MessageName[],
  outgoing: OutgoingLink,
  { filedrop, reported }: HandoverContext,
) {
  const { link } = outgoing
  const parcels: CarriedMessage[] = []
  const kept: HandoverResult[] = []
  const why = reported.get(link.peer) ?? new Map<string, string>()
  reported.set(link.peer, why)
  for (const name of names) {
    const { epoch, seq, stem } = name
    const bytes = await readParcel(name, outgoing, filedrop)
    if (typeof bytes !== 'string') {
      why.delete(stem)
      parcels.push({ epoch, seq, envelope: Buffer.from(bytes.envelope), body: Buffer.from(bytes.body) })
      continue
    }
    kept.push({ epoch, seq, outcome: 'kept_back' })
    if (bytes === 'lost' || why.get(stem) === bytes) continue
    why.set(stem, bytes)
    filedrop.log.error('filedrop.message.withheld', { peer: link.peer, stem, why: bytes })
  }
  return { parcels, kept }
}

async function readParcel(
  name: MessageName,
  outgoing: OutgoingLink,
  filedrop: FiledropContext,
): Promise<MessageBytes | string> {
  const { link } = outgoing
  const read = () => readOwnMessage(link.folders.ready, name, undefined, outgoing, filedrop)
  let bytes = await read()
  if (bytes === 'lost' && (await completeHalf(link, name, filedrop))) bytes = await read()
  return typeof bytes !== 'string' && (await isPurged(bytes, filedrop)) ? 'purged' : bytes
}

/** People have ordered it away, and it has not been removed yet. */
async function isPurged(message: MessageBytes, { purges }: FiledropContext): Promise<boolean> {
  const orders = await purges.all()
  return orders.size > 0 && purgeableDigests(message).some((digest) => orders.has(digest))
}

/** A death between the removal of its two files leaves half of a message that has left: it goes again, as a double. */
async function completeHalf(
  link: FiledropLink,
  { epoch, seq }: MessageNumber,
  filedrop: FiledropContext,
): Promise<boolean> {
  const [entry] = await filedrop.journal.sentRun(link.channel.out, epoch, seq, seq, 1)
  const message = entry?.state === 'PUBLISHED' ? await filedrop.journal.get(link.channel.out, epoch, seq) : undefined
  if (!message) return false
  await publishMessage(link.folders, message, filedrop.passFaultPoint)
  return true
}
