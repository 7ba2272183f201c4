// Operator actions for one-way links, where no evidence comes back by itself.
import { isRefusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import type { Gap, Journal } from '../../../daemon/kernel/messaging/journal.ts'
import type {
  GapReceipt,
  NumberRange,
  OneWayControl,
  RangeDecision,
} from '../../../daemon/kernel/messaging/one-way-control.ts'
import type { FiledropContext } from './filedrop-context.ts'
import { dropOld } from './files/retention.ts'
import { readInventoryState } from './link/inventory-state.ts'
import type { FiledropLinkRuntime } from './link/link-runtime.ts'
import type { ScanContext } from './receiving/scan-context.ts'
import { discardWaiting, type EpochRange, skipNumbers } from './receiving/waiting/decide-waiting.ts'
import { listWaiting } from './receiving/waiting/list-waiting.ts'
import { draftEpoch, openEpoch } from './sending/numbering/open-epoch.ts'
import { findChannelEpoch, makeGapReceipt, readGapReceipt } from './sending/reports/gap-receipt.ts'
import { claimedEnds } from './signed-notes.ts'

type PinnedLink = { readonly peer: Peer; readonly running: FiledropLinkRuntime }

/** `linkOf` takes the name of a pinned peer. */
export function oneWay(filedrop: FiledropContext, linkOf: (peer: string) => FiledropLinkRuntime): OneWayControl {
  const pinned = async (name: string): Promise<PinnedLink> => {
    const peer = await filedrop.peers.get(name)
    if (!peer) throw refuse('not_found', `there is no peer ${name}`)
    return { peer, running: linkOf(peer.name) }
  }
  const decide = async (
    { peer, running }: PinnedLink,
    range: NumberRange,
    decision: (numbers: EpochRange, channel: string, context: ScanContext) => Promise<number>,
  ): Promise<RangeDecision> => {
    const channel = running.link.channel.in
    const epoch = range.epoch ?? (await findChannelEpoch(channel, filedrop.journal))
    const intake = running.intake()
    if (!intake) throw refuse('unavailable', 'the carrier does not run')
    const numbers = await intake.decide((context) => decision({ ...range, epoch }, channel, context))
    return { peer: peer.name, epoch, numbers }
  }
  return {
    async gapReceipt(name, epoch) {
      const { peer, running } = await pinned(name)
      return await makeGapReceipt(running.link, peer, filedrop, { epoch })
    },
    async inventoryState(name, epoch) {
      return await readInventoryState((await pinned(name)).running.link, epoch, filedrop)
    },
    async waiting(name) {
      const { running } = await pinned(name)
      return await listWaiting(running, filedrop.journal)
    },
    async skip(name, range, audit) {
      return await decide(await pinned(name), range, (numbers, channel, context) =>
        skipNumbers(numbers, audit(channel), context),
      )
    },
    async discard(name, range, reason, audit) {
      return await decide(await pinned(name), range, (numbers, channel, context) =>
        discardWaiting(numbers, reason, audit(channel), context),
      )
    },
    async resend({ peer: name, epoch, first, last }) {
      const { peer, running } = await pinned(name)
      await running.outbox.lookForPickups()
      const wanted = epoch ?? (await filedrop.journal.head(running.link.channel.out)).epoch
      return { peer: peer.name, ...(await running.outbox.resender.resend(wanted, [{ first, last }])) }
    },
    async resendFor(note, from = 1) {
      const read = await readGapReceipt(note, filedrop)
      if (isRefusal(read)) throw read
      const { epoch, missing, src } = read.receipt
      const { outbox, link } = linkOf(src)
      await outbox.lookForPickups()
      const announcement = await outbox.resender.announceAgain(epoch)
      const unheard = await findUnheardTail(read.receipt, link.channel.out, filedrop.journal)
      const answer = await outbox.resender.resend(epoch, [...missing, ...unheard], { from })
      return { peer: src, ...answer, ...(announcement ? { announcement } : {}) }
    },
    async draftEpoch(name) {
      const { running } = await pinned(name)
      return await draftEpoch(running.link, filedrop)
    },
    async openEpoch(announcement, audit) {
      const { peer, running } = await pinned(claimedEnds(announcement)?.dst ?? '')
      const opened = await openEpoch(running.link, peer, announcement, running.outbox.numbering, filedrop, audit)
      running.outbox.publisher.trigger()
      return opened
    },
    async freeze(name, detail, audit) {
      const { running } = await pinned(name)
      await filedrop.journal.setState(running.link.channel.in, 'frozen', detail, audit)
    },
    async unfreeze(name, audit) {
      const { running } = await pinned(name)
      const { peer, channel, trouble } = running.link
      const entry = (await filedrop.journal.channels()).find((each) => each.channel === channel.in)
      if (entry?.state !== 'frozen') throw refuse('conflict', `the channel from ${peer} is not frozen`)
      const unfrozen = { peer, channel: channel.in, was: entry.detail }
      await filedrop.journal.setState(channel.in, 'open', '', audit(unfrozen))
      trouble.delete('in')
      filedrop.log.warn('filedrop.channel.unfrozen', { peer, was: entry.detail })
      running.trigger()
      return unfrozen
    },
    dropOld: (signal) => dropOld(filedrop, signal),
  }
}

/** One call sends no more. */
const max_unheard_messages = 1_000

/** The end of an older epoch that is unknown to the receiver: no inventory of that epoch will ever report it. */
async function findUnheardTail(
  { epoch, highest }: GapReceipt,
  channel: string,
  journal: Pick<Journal, 'head' | 'sentRun'>,
): Promise<Gap[]> {
  if ((await journal.head(channel)).epoch <= epoch) return []
  const first = highest + 1
  const last = (await journal.sentRun(channel, epoch, first, Number.MAX_SAFE_INTEGER, max_unheard_messages)).at(-1)?.seq
  return last === undefined ? [] : [{ first, last }]
}
