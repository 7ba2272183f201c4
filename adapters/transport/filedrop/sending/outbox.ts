// The sending half of a link: one number per message without a gap, and the same bytes on every repeat.

import { refuse } from '../../../../daemon/kernel/error/errors.ts'
import type { Peer } from '../../../../daemon/kernel/identity/peer.ts'
import { checkOutgoingLabel } from '../../../../daemon/kernel/label/crossing.ts'
import type { SealedMessage } from '../../../../daemon/kernel/messaging/journal.ts'
import type { OutboundMessage } from '../../../../daemon/kernel/messaging/transport.ts'
import type { Trace } from '../../../../daemon/kernel/telemetry/trace.ts'
import { describeFailure } from '../failure-text.ts'
import type { FiledropContext } from '../filedrop-context.ts'
import { messageName } from '../files/message-name.ts'
import { checkChannelState, type FiledropLink } from '../link/filedrop-link.ts'
import { linkAuditEvent } from '../link/link-audit-event.ts'
import { publishedTotal } from '../metrics.ts'
import { type WorkLoop, workLoop } from '../serial-work.ts'
import { type MessageResender, messageResender } from './message-resender.ts'
import { type MessageNumbering, messageNumbering, type NumberedMessage } from './numbering/message-numbering.ts'
import { mayLeave } from './own-message.ts'
import { keepSentCopy, listReadyStems, publishMessage } from './publish-message.ts'
import { periodicReports } from './reports/periodic-reports.ts'

export type FiledropOutbox = {
  send(message: OutboundMessage, peer: Peer, trace: Trace): Promise<NumberedMessage>
  readonly numbering: MessageNumbering
  readonly resender: MessageResender
  /** Sends periodic reports, whether or not other messages are sent. */
  readonly reporter: WorkLoop
  readonly publisher: WorkLoop
  /** Looks what the carrier took. */
  readonly pickups: WorkLoop
  /** Sends an inventory now, outside its interval. */
  requestInventory(): void
  /** Resolves when all that the carrier has taken until now is known. */
  lookForPickups(): Promise<void>
}

/** Messages published between two looks at the channel's state, and marked by one write. */
const max_batch_messages = 64

export function filedropOutbox(link: FiledropLink, filedrop: FiledropContext): FiledropOutbox {
  const { label_policy, record } = filedrop
  const numbers = messageNumbering(link, filedrop)
  const onError = (error: unknown) => reportFailure(link, error, filedrop)
  const publisher = workLoop((isStopped) => publishSpooled(link, numbers, filedrop, isStopped), onError)
  const pickups = workLoop((isStopped) => recordPickups(link, filedrop, isStopped), onError)
  const reports = periodicReports(link, numbers, filedrop)
  const reporter = workLoop(async () => {
    if (await reports.sendDue()) publisher.trigger()
  }, onError)

  return {
    numbering: numbers,
    resender: messageResender(link, filedrop),
    reporter,
    publisher,
    pickups,
    requestInventory() {
      reports.requestInventory()
      reporter.trigger()
    },
    async lookForPickups() {
      pickups.trigger()
      await pickups.idle()
    },
    async send(message, peer, trace) {
      const denial = checkOutgoingLabel(message.label, peer, label_policy)
      if (denial) {
        const about = { kind: message.kind, detail: denial.message }
        await record([
          linkAuditEvent(link, 'filedrop.message.denied', message.event_id, about, filedrop, {
            outcome: 'refused',
            trace,
          }),
        ])
        throw denial
      }
      const now = await checkChannelState(link, 'out', filedrop)
      if (!now.peer) throw refuse('unavailable', `the channel to ${link.peer} is ${now.state}: ${now.detail}`)
      const sent = await numbers.next({ peer, compose: () => message })
      publisher.trigger()
      return sent
    },
  }
}

/** In the order of their numbers; what a crash left half done is done again with the identical bytes. */
async function publishSpooled(
  link: FiledropLink,
  numbering: MessageNumbering,
  filedrop: FiledropContext,
  isStopped: () => boolean,
): Promise<void> {
  const { journal, clock, metrics, passFaultPoint } = filedrop
  while (!isStopped()) {
    const { peer } = await checkChannelState(link, 'out', filedrop)
    if (!peer) return
    await numbering.check()
    const spooled = await journal.outbox(link.channel.out, 'SPOOLED', max_batch_messages)
    const kept = spooled.find(({ envelope }) => !mayLeave(envelope, peer, filedrop))
    const free = kept ? spooled.slice(0, spooled.indexOf(kept)) : spooled
    for (const message of free) {
      if ((await publishMessage(link.folders, message, passFaultPoint)) === 'different') {
        throw new Error(`out/ready contains other bytes under number ${message.seq}; another program writes there`)
      }
    }
    await journal.mark(link.channel.out, free, 'PUBLISHED', clock.now())
    passFaultPoint('marked-published')
    if (free.length > 0) filedrop.onPublished(link.peer)
    metrics.count(publishedTotal, { peer: link.peer }, free.length)
    if (kept) throw new Error(describeHeldBack(kept))
    if (spooled.length < max_batch_messages) break
  }
  link.trouble.delete('out')
}

/** Nothing overtakes it: whether it may go after all, or is purged, people decide. */
function describeHeldBack({ seq, epoch, digest }: SealedMessage): string {
  const why = `number ${seq} of epoch ${epoch} waits under a label that may not leave, as the peer is pinned now`
  return `${why}: pin it with a ceiling that lets it go, or purge ${digest}`
}

/**
 * Records messages that are gone from `ready`: a carrier took them. That is not evidence of arrival; after its time a message
 * is only assumed to have arrived.
 */
async function recordPickups(link: FiledropLink, filedrop: FiledropContext, isStopped: () => boolean): Promise<void> {
  if (!(await checkChannelState(link, 'out', filedrop)).peer) return
  const { journal, clock, settings } = filedrop
  const channel = link.channel.out
  // Reads the journal first: a message that is published later cannot look absent from a folder that was read before.
  const published = await journal.numbers(channel, 'PUBLISHED')
  const ready = listReadyStems(link.folders)
  const gone = published.filter(({ epoch, seq }) => !ready.has(messageName(epoch, seq).stem))
  for (let at = 0; at < gone.length && !isStopped(); at += max_batch_messages) {
    const some = gone.slice(at, at + max_batch_messages)
    for (const { epoch, seq } of some) {
      const message = await journal.get(channel, epoch, seq)
      if (message) await keepSentCopy(link.folders, message)
      filedrop.passFaultPoint('kept')
    }
    await journal.mark(channel, some, 'PICKED_UP', clock.now())
    filedrop.passFaultPoint('marked-picked-up')
  }
  if (!settings.trusted_clock) return
  while (!isStopped() && (await journal.assume(channel, clock.now(), max_assumed_per_write)) === max_assumed_per_write);
}

/** By one write: some milliseconds of work. */
const max_assumed_per_write = 1_000

function reportFailure(link: FiledropLink, error: unknown, { log }: FiledropContext): void {
  const detail = describeFailure(error)
  link.trouble.set('out', `publishing failed, and is tried again: ${detail}`)
  log.error('filedrop.publish.failed', { peer: link.peer, detail })
}
