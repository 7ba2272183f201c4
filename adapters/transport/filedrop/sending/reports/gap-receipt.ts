// Makes and reads gap receipts: signed notes of missing numbers that a person carries back to the sender.

import type { Jws, Signatures } from '../../../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../../../../daemon/kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../../../daemon/kernel/error/errors.ts'
import type { Peer } from '../../../../../daemon/kernel/identity/peer.ts'
import type { Journal } from '../../../../../daemon/kernel/messaging/journal.ts'
import {
  type GapReceipt,
  gapReceipt,
  max_missing_runs,
} from '../../../../../daemon/kernel/messaging/one-way-control.ts'
import { day_ms } from '../../day-length.ts'
import type { FiledropContext } from '../../filedrop-context.ts'
import { channelName } from '../../files/channel-folders.ts'
import type { FiledropLink } from '../../link/filedrop-link.ts'
import { claimedEnds, type NoteSigner, verifyPeerNote } from '../../signed-notes.ts'

/** Largest payload that fits into a JWS of this format. */
const max_receipt_bytes = 48_000

/** Covers the current epoch by default. Lists the lowest runs that fit into so many bytes; the next receipt lists the others. */
export async function makeGapReceipt(
  link: FiledropLink,
  peer: Peer,
  filedrop: FiledropContext,
  options: { readonly epoch?: number | undefined; readonly most_bytes?: number } = {},
): Promise<Jws> {
  const { journal, clock, site, signatures } = filedrop
  const channel = link.channel.in
  const epoch = options.epoch ?? (await findChannelEpoch(channel, journal))
  const { floor, highest } = await journal.progress(channel, epoch)
  const missing = await journal.gaps(channel, epoch, max_missing_runs)
  const now = clock.now()
  const receipt: GapReceipt = {
    ...{ v: 1, type: 'platform.gap_receipt', channel, src: site, dst: peer.name, epoch, highest, floor, missing },
    created: new Date(now).toISOString(),
    not_after: new Date(now + peer.not_after_days * day_ms).toISOString(),
  }
  return await signatures.sign('gap-receipt', Buffer.from(fitReceipt(receipt, options.most_bytes ?? max_receipt_bytes)))
}

export async function findChannelEpoch(channel: string, journal: Pick<Journal, 'channels'>): Promise<number> {
  return (await journal.channels()).find((each) => each.channel === channel)?.epoch ?? 1
}

function fitReceipt(receipt: GapReceipt, most_bytes: number): string {
  const missing = [...receipt.missing]
  let text = canonicalJson(receipt)
  while (text.length > most_bytes && missing.length > 0) {
    const excess = text.length - most_bytes
    // A run takes some 22 to 52 bytes.
    missing.splice(-Math.max(1, Math.floor(excess / 52)))
    text = canonicalJson({ ...receipt, missing })
  }
  return text
}

export type VerifiedGapReceipt = { readonly peer: Peer; readonly receipt: GapReceipt }

/** A receipt of this peer about the channel of `site` to it, at whatever time. Refuses `signature_invalid` and `invalid`. */
export async function verifyGapReceipt(
  note: Jws,
  peer: NoteSigner,
  site: string,
  signatures: Pick<Signatures, 'verify'>,
): Promise<GapReceipt | Refusal> {
  const receipt = await verifyPeerNote('gap-receipt', note, peer, gapReceipt, signatures)
  if (isRefusal(receipt)) return receipt
  const isOwn = receipt.src === peer.name && receipt.dst === site && receipt.channel === channelName(site, peer.name)
  return isOwn ? receipt : refuse('invalid', 'the receipt is about another channel')
}

/** A receipt of a pinned peer about this site's own channel. Refuses `signature_invalid`, and `invalid` for one of another use or time. */
export async function readGapReceipt(note: Jws, filedrop: FiledropContext): Promise<VerifiedGapReceipt | Refusal> {
  const { peers, signatures, site, clock, settings } = filedrop
  const { src = '', dst = '' } = claimedEnds(note) ?? {}
  if (src === site) return refuse('invalid', `this site made the receipt: carry it to ${dst}`)
  const peer = await peers.get(src)
  if (!peer) return refuse('signature_invalid', 'it is not signed by a pinned peer')
  const receipt = await verifyGapReceipt(note, peer, site, signatures)
  if (isRefusal(receipt)) return receipt
  if (!settings.trusted_clock) return { peer, receipt }
  const now = clock.now()
  if (Date.parse(receipt.not_after) + settings.skew_ms < now) return refuse('invalid', 'the receipt has expired')
  if (Date.parse(receipt.created) - settings.skew_ms > now)
    return refuse('invalid', 'the receipt was made in the future')
  return { peer, receipt }
}
