// The sending half of a line: one number per message, without a gap, and the same bytes however often it is asked.
import { leaving } from '../../../../daemon/kernel/crossing.ts'
import { refuse } from '../../../../daemon/kernel/errors.ts'
import type { Sealed } from '../../../../daemon/kernel/journal.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import type { Trace } from '../../../../daemon/kernel/trace.ts'
import type { Outgoing } from '../../../../daemon/kernel/transport.ts'
import { failureText } from '../failure-text.ts'
import { eventOf, type Line, standing } from '../line.ts'
import { publishedTotal } from '../metrics.ts'
import { nameOf } from '../names.ts'
import { type Loop, loop } from '../one-at-a-time.ts'
import type { Surroundings } from '../surroundings.ts'
import { type Numbering, numbering, type Sent } from './numbering.ts'
import { mayLeave } from './own-message.ts'
import { reports } from './own-reports.ts'
import { keep, publish, stemsInReady } from './publishing.ts'
import { type Resending, resending } from './resend.ts'

export type Outbox = {
  send(message: Outgoing, peer: Peer, trace: Trace): Promise<Sent>
  readonly numbers: Numbering
  readonly resending: Resending
  /** Sends what is to be said from time to time, whether or not anything else is sent. */
  readonly reporter: Loop
  readonly publisher: Loop
  /** Looks what the carrier took. */
  readonly pickups: Loop
  /** Resolves when all that the carrier has taken until now is known. */
  lookForPickups(): Promise<void>
}

/** Messages published between two looks at the channel's state, and marked by one write. */
const batch = 64

export function outbox(line: Line, around: Surroundings): Outbox {
  const { label_policy, record } = around
  const numbers = numbering(line, around)
  const onError = (error: unknown) => fail(line, error, around)
  const publisher = loop((isStopped) => publishAll(line, numbers, around, isStopped), onError)
  const pickups = loop((isStopped) => noticePickedUp(line, around, isStopped), onError)
  const report = reports(line, numbers, around)
  const reporter = loop(async () => {
    if (await report()) publisher.trigger()
  }, onError)

  return {
    numbers,
    resending: resending(line, around),
    reporter,
    publisher,
    pickups,
    async lookForPickups() {
      pickups.trigger()
      await pickups.idle()
    },
    async send(message, peer, trace) {
      const denial = leaving(message.label, peer, label_policy)
      if (denial) {
        const about = { kind: message.kind, detail: denial.message }
        await record([
          eventOf(line, 'filedrop.message.denied', message.event_id, about, around, { outcome: 'refused', trace }),
        ])
        throw denial
      }
      const now = await standing(line, 'out', around)
      if (!now.peer) throw refuse('unavailable', `the channel to ${line.peer} is ${now.state}: ${now.detail}`)
      const sent = await numbers.next({ peer, compose: () => message })
      publisher.trigger()
      return sent
    },
  }
}

/** In the order of their numbers; what a crash left half done is done again with the identical bytes. */
async function publishAll(
  line: Line,
  numbers: Numbering,
  around: Surroundings,
  isStopped: () => boolean,
): Promise<void> {
  const { journal, clock, metrics, reached } = around
  while (!isStopped()) {
    const { peer } = await standing(line, 'out', around)
    if (!peer) return
    await numbers.check()
    const spooled = await journal.outbox(line.channel.out, 'SPOOLED', batch)
    const kept = spooled.find(({ envelope }) => !mayLeave(envelope, peer, around))
    const free = kept ? spooled.slice(0, spooled.indexOf(kept)) : spooled
    for (const message of free) {
      if ((await publish(line.folders, message, reached)) === 'different') {
        throw new Error(`out/ready holds other bytes under number ${message.seq}; somebody else writes there`)
      }
    }
    await journal.mark(line.channel.out, free, 'PUBLISHED', clock.now())
    reached('marked-published')
    if (free.length > 0) around.published(line.peer)
    metrics.count(publishedTotal, { peer: line.peer }, free.length)
    if (kept) throw new Error(keptBack(kept))
    if (spooled.length < batch) break
  }
  line.trouble.delete('out')
}

/** Nothing overtakes it: whether it may go after all, or is purged, people decide. */
function keptBack({ seq, epoch, digest }: Sealed): string {
  const why = `number ${seq} of epoch ${epoch} waits under a label that may not leave, as the peer is pinned now`
  return `${why}: pin it with a ceiling that lets it go, or purge ${digest}`
}

/**
 * Gone from `ready`: a carrier took it. That is no evidence that it arrived, and after its time it is only assumed to
 * have done so.
 */
export async function noticePickedUp(line: Line, around: Surroundings, isStopped: () => boolean): Promise<void> {
  if (!(await standing(line, 'out', around)).peer) return
  const { journal, clock, settings } = around
  const channel = line.channel.out
  // The journal first: what is published after that look is not missed in a folder that was read before it.
  const published = await journal.numbers(channel, 'PUBLISHED')
  const ready = stemsInReady(line.folders)
  const gone = published.filter(({ epoch, seq }) => !ready.has(nameOf(epoch, seq).stem))
  for (let at = 0; at < gone.length && !isStopped(); at += batch) {
    const some = gone.slice(at, at + batch)
    for (const { epoch, seq } of some) {
      const message = await journal.get(channel, epoch, seq)
      if (message) await keep(line.folders, message)
      around.reached('kept')
    }
    await journal.mark(channel, some, 'PICKED_UP', clock.now())
    around.reached('marked-picked-up')
  }
  if (!settings.trusted_clock) return
  while (!isStopped() && (await journal.assume(channel, clock.now(), most_assumed)) === most_assumed);
}

/** By one write: some milliseconds of work. */
const most_assumed = 1_000

function fail(line: Line, error: unknown, { log }: Surroundings): void {
  const detail = failureText(error)
  line.trouble.set('out', `publishing failed, and is tried again: ${detail}`)
  log.error('filedrop.publish.failed', { peer: line.peer, detail })
}
