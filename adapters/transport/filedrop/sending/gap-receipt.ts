// A short signed note of what is missing, for a person to carry back: made by a receiver, read by the sender.
import { canonical } from '../../../../daemon/kernel/canonical.ts'
import { isRefused, type Refused, refuse } from '../../../../daemon/kernel/errors.ts'
import type { Jws } from '../../../../daemon/kernel/keys.ts'
import { type GapReceipt, gapReceipt, most_missing_runs } from '../../../../daemon/kernel/one-way.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import { channelName } from '../layout.ts'
import type { Line } from '../line.ts'
import { bySigner, claimedEnds } from '../signed-notes.ts'
import type { Surroundings } from '../surroundings.ts'

const day_ms = 86_400_000

/** What fits into a JWS of this house. */
const most_receipt_bytes = 48_000

/** Of the channel's current epoch, unless said. The lowest runs that fit into so many bytes; the next receipt tells of the others. */
export async function makeGapReceipt(
  line: Line,
  peer: Peer,
  around: Surroundings,
  given: { readonly epoch?: number | undefined; readonly most_bytes?: number } = {},
): Promise<Jws> {
  const { journal, clock, site, signatures } = around
  const channel = line.channel.in
  const epoch = given.epoch ?? (await journal.channels()).find((each) => each.channel === channel)?.epoch ?? 1
  const { floor, highest } = await journal.progress(channel, epoch)
  const missing = await journal.gaps(channel, epoch, most_missing_runs)
  const now = clock.now()
  const receipt: GapReceipt = {
    ...{ v: 1, type: 'platform.gap_receipt', channel, src: site, dst: peer.name, epoch, highest, floor, missing },
    created: new Date(now).toISOString(),
    not_after: new Date(now + peer.not_after_days * day_ms).toISOString(),
  }
  return await signatures.sign('gap-receipt', Buffer.from(fitting(receipt, given.most_bytes ?? most_receipt_bytes)))
}

function fitting(receipt: GapReceipt, most_bytes: number): string {
  const missing = [...receipt.missing]
  let text = canonical(receipt)
  while (text.length > most_bytes && missing.length > 0) {
    const excess = text.length - most_bytes
    // A run takes some 22 to 52 bytes.
    missing.splice(-Math.max(1, Math.floor(excess / 52)))
    text = canonical({ ...receipt, missing })
  }
  return text
}

export type ReadReceipt = { readonly peer: Peer; readonly receipt: GapReceipt }

/** A receipt of a pinned peer about this site's own channel. Refuses `signature_invalid`, and `invalid` for one of another use or time. */
export async function readGapReceipt(note: Jws, around: Surroundings): Promise<ReadReceipt | Refused> {
  const { peers, signatures, site, clock, settings } = around
  const { src = '', dst = '' } = claimedEnds(note) ?? {}
  if (src === site) return refuse('invalid', `the receipt is one of this site’s own: carry it to ${dst}`)
  const peer = await peers.get(src)
  if (!peer) return refuse('signature_invalid', 'it is not signed by a pinned peer')
  const receipt = await bySigner('gap-receipt', note, peer, gapReceipt, signatures)
  if (isRefused(receipt)) return receipt
  if (receipt.src !== peer.name || receipt.dst !== site || receipt.channel !== channelName(site, peer.name)) {
    return refuse('invalid', 'the receipt is about another channel')
  }
  if (!settings.trusted_clock) return { peer, receipt }
  const now = clock.now()
  if (Date.parse(receipt.not_after) + settings.skew_ms < now)
    return refuse('invalid', 'the time of the receipt is over')
  if (Date.parse(receipt.created) - settings.skew_ms > now)
    return refuse('invalid', 'the receipt was made in the future')
  return { peer, receipt }
}
