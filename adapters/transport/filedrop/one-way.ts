// Operator actions for one-way links, where no evidence comes back by itself.
import { isRefusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import type { Gap, Journal } from '../../../daemon/kernel/messaging/journal.ts'
import type { GapReceipt, OneWayControl } from '../../../daemon/kernel/messaging/one-way-control.ts'
import type { FiledropContext } from './filedrop-context.ts'
import { dropOld } from './files/retention.ts'
import type { FiledropLinkRuntime } from './link/link-runtime.ts'
import { draftEpoch, openEpoch } from './sending/numbering/open-epoch.ts'
import { makeGapReceipt, readGapReceipt } from './sending/reports/gap-receipt.ts'
import { claimedEnds } from './signed-notes.ts'

/** `linkOf` takes the name of a pinned peer. */
export function oneWay(filedrop: FiledropContext, linkOf: (peer: string) => FiledropLinkRuntime): OneWayControl {
  const pinned = async (name: string): Promise<{ peer: Peer; running: FiledropLinkRuntime }> => {
    const peer = await filedrop.peers.get(name)
    if (!peer) throw refuse('not_found', `there is no peer ${name}`)
    return { peer, running: linkOf(peer.name) }
  }
  return {
    async gapReceipt(name, epoch) {
      const { peer, running } = await pinned(name)
      return await makeGapReceipt(running.link, peer, filedrop, { epoch })
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
