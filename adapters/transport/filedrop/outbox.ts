// The sending half of a line: one number per message, without a gap, and the same bytes however often it is asked.
import { refuse } from '../../../daemon/kernel/errors.ts'
import type { Sealed } from '../../../daemon/kernel/journal.ts'
import type { Peer } from '../../../daemon/kernel/peer.ts'
import type { Outgoing } from '../../../daemon/kernel/transport.ts'
import { failureText } from './failure-text.ts'
import { labelDenial, namesOf } from './label-gate.ts'
import { eventOf, type Line, standing } from './line.ts'
import { publishedTotal, sentTotal } from './metrics.ts'
import { nameOf } from './names.ts'
import { inBatches, type Loop, loop } from './one-at-a-time.ts'
import { keep, publish, stemsInReady } from './publishing.ts'
import { seal } from './sealing.ts'
import type { Surroundings } from './surroundings.ts'

export type Sent = { msg_id: string; epoch: number; seq: number }

export type Outbox = {
  send(message: Outgoing, peer: Peer): Promise<Sent>
  readonly publisher: Loop
  /** Looks what the carrier took. */
  readonly pickups: Loop
}

/** Messages numbered by one write, and published between two looks at the channel's state. */
const batch = 64

export function outbox(line: Line, around: Surroundings): Outbox {
  const { label_policy, record } = around
  const number = inBatches(batch, (asked: readonly Asked[]) => numberAll(line, asked, around))
  const onError = (error: unknown) => fail(line, error, around)
  const publisher = loop((isStopped) => publishAll(line, around, isStopped), onError)
  const pickups = loop(() => noticePickedUp(line, around), onError)

  return {
    publisher,
    pickups,
    async send(message, peer) {
      const denial = labelDenial(message.label, peer, namesOf(peer), label_policy)
      if (denial !== undefined) {
        const about = { kind: message.kind, detail: denial }
        await record([
          eventOf(line, 'filedrop.message.denied', message.event_id, about, around, { outcome: 'refused' }),
        ])
        throw refuse('label_denied', denial)
      }
      const now = await standing(line, 'out', around)
      if (!now.peer) throw refuse('unavailable', `the channel to ${line.peer} is ${now.state}: ${now.detail}`)
      const sent = await number({ message, peer })
      publisher.trigger()
      if (sent instanceof Error) throw sent
      return sent
    },
  }
}

type Asked = { readonly message: Outgoing; readonly peer: Peer }

/**
 * Numbers in the order in which they were asked for, all durable by one write. A message that cannot be sealed has its
 * refusal and uses no number.
 */
async function numberAll(line: Line, asked: readonly Asked[], around: Surroundings): Promise<(Sent | Error)[]> {
  const { journal, metrics } = around
  const channel = line.channel.out
  const answers: (Sent | Error)[] = []
  const sealed: Sealed[] = []
  let head = await journal.head(channel)
  for (const { message, peer } of asked) {
    const { event_id } = message
    const known = sealed.find((each) => each.event_id === event_id) ?? (await journal.sent(channel, event_id))
    const made = known ?? (await seal(message, channel, peer, head, around).catch(asError))
    answers.push(made instanceof Error ? made : sentOf(made))
    if (known || made instanceof Error) continue
    sealed.push(made as Sealed)
    head = made
  }
  if (sealed.length > 0 && (await journal.append(channel, sealed)) === 'behind') {
    throw refuse('unavailable', 'another process sends on this channel; only one may')
  }
  metrics.count(sentTotal, { peer: line.peer }, sealed.length)
  return answers
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(failureText(error))
}

function sentOf({ msg_id, epoch, seq }: Sent): Sent {
  return { msg_id, epoch, seq }
}

/** In the order of their numbers; what a crash left half done is done again with the identical bytes. */
async function publishAll(line: Line, around: Surroundings, isStopped: () => boolean): Promise<void> {
  const { journal, metrics } = around
  while (!isStopped()) {
    if (!(await standing(line, 'out', around)).peer) return
    const spooled = await journal.outbox(line.channel.out, 'SPOOLED', batch)
    for (const message of spooled) {
      if ((await publish(line.folders, message)) === 'different') {
        throw new Error(`out/ready holds other bytes under number ${message.seq}; somebody else writes there`)
      }
    }
    await journal.mark(line.channel.out, spooled, 'PUBLISHED')
    metrics.count(publishedTotal, { peer: line.peer }, spooled.length)
    if (spooled.length < batch) break
  }
  line.trouble.delete('out')
}

/** Gone from `ready`: a carrier took it. That is no evidence that it arrived. */
async function noticePickedUp(line: Line, around: Surroundings): Promise<void> {
  if (!(await standing(line, 'out', around)).peer) return
  const { journal } = around
  // The journal first: what is published after that look is not missed in a folder that was read before it.
  const published = await journal.numbers(line.channel.out, 'PUBLISHED')
  const ready = stemsInReady(line.folders)
  const gone = published.filter(({ epoch, seq }) => !ready.has(nameOf(epoch, seq).stem))
  for (const { epoch, seq } of gone) {
    const message = await journal.get(line.channel.out, epoch, seq)
    if (message) await keep(line.folders, message)
    await journal.mark(line.channel.out, [{ epoch, seq }], 'PICKED_UP')
  }
}

function fail(line: Line, error: unknown, { log }: Surroundings): void {
  const detail = failureText(error)
  line.trouble.set('out', `publishing failed, and is tried again: ${detail}`)
  log.error('filedrop.publish.failed', { peer: line.peer, detail })
}
