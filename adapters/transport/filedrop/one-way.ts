// What people can ask of the carrier where nothing comes back by itself.
import { isRefused, refuse } from '../../../daemon/kernel/errors.ts'
import type { Gap, Journal } from '../../../daemon/kernel/journal.ts'
import type { GapReceipt, OneWay } from '../../../daemon/kernel/one-way.ts'
import type { Peer } from '../../../daemon/kernel/peer.ts'
import type { RunningLine } from './running-line.ts'
import { draftEpoch, openEpoch } from './sending/epoch-opening.ts'
import { makeGapReceipt, readGapReceipt } from './sending/gap-receipt.ts'
import { dropOld } from './sending/retention.ts'
import { claimedEnds } from './signed-notes.ts'
import type { Surroundings } from './surroundings.ts'

/** `lineOf`: of a peer that is pinned. */
export function oneWay(around: Surroundings, lineOf: (peer: string) => RunningLine): OneWay {
  const pinned = async (name: string): Promise<{ peer: Peer; running: RunningLine }> => {
    const peer = await around.peers.get(name)
    if (!peer) throw refuse('not_found', `there is no peer ${name}`)
    return { peer, running: lineOf(peer.name) }
  }
  return {
    async gapReceipt(name, epoch) {
      const { peer, running } = await pinned(name)
      return await makeGapReceipt(running.line, peer, around, { epoch })
    },
    async resend({ peer: name, epoch, first, last }) {
      const { peer, running } = await pinned(name)
      await running.outbox.lookForPickups()
      const wanted = epoch ?? (await around.journal.head(running.line.channel.out)).epoch
      return { peer: peer.name, ...(await running.outbox.resending.resend(wanted, [{ first, last }])) }
    },
    async resendFor(note, from = 1) {
      const read = await readGapReceipt(note, around)
      if (isRefused(read)) throw read
      const { epoch, missing, src } = read.receipt
      const { outbox, line } = lineOf(src)
      await outbox.lookForPickups()
      const announcement = await outbox.resending.announceAgain(epoch)
      const unheard = await endUnheardOf(read.receipt, line.channel.out, around.journal)
      const answer = await outbox.resending.resend(epoch, [...missing, ...unheard], { from })
      return { peer: src, ...answer, ...(announcement ? { announcement } : {}) }
    },
    async draftEpoch(name) {
      const { running } = await pinned(name)
      return await draftEpoch(running.line, around)
    },
    async openEpoch(announcement, audit) {
      const { peer, running } = await pinned(claimedEnds(announcement)?.dst ?? '')
      const opened = await openEpoch(running.line, peer, announcement, running.outbox.numbers, around, audit)
      running.outbox.publisher.trigger()
      return opened
    },
    async freeze(name, detail, audit) {
      const { running } = await pinned(name)
      await around.journal.setState(running.line.channel.in, 'frozen', detail, audit)
    },
    async unfreeze(name, audit) {
      const { running } = await pinned(name)
      const { peer, channel, trouble } = running.line
      const entry = (await around.journal.channels()).find((each) => each.channel === channel.in)
      if (entry?.state !== 'frozen') throw refuse('conflict', `the channel from ${peer} is not frozen`)
      const unfrozen = { peer, channel: channel.in, was: entry.detail }
      await around.journal.setState(channel.in, 'open', '', audit(unfrozen))
      trouble.delete('in')
      around.log.warn('filedrop.channel.unfrozen', { peer, was: entry.detail })
      running.trigger()
      return unfrozen
    },
    dropOld: (signal) => dropOld(around, signal),
  }
}

/** One call sends no more. */
const most_unheard = 1_000

/** The end of an older epoch that the receiver has not heard of: no inventory of that epoch will ever tell it. */
async function endUnheardOf(
  { epoch, highest }: GapReceipt,
  channel: string,
  journal: Pick<Journal, 'head' | 'sentRun'>,
): Promise<Gap[]> {
  if ((await journal.head(channel)).epoch <= epoch) return []
  const first = highest + 1
  const last = (await journal.sentRun(channel, epoch, first, Number.MAX_SAFE_INTEGER, most_unheard)).at(-1)?.seq
  return last === undefined ? [] : [{ first, last }]
}
