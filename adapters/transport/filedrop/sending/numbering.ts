// Gives each outgoing message the next number of its channel, one after the other, so that none is given twice.
import { refuse } from '../../../../daemon/kernel/errors.ts'
import type { Sealed, SentHead } from '../../../../daemon/kernel/journal.ts'
import type { Peer } from '../../../../daemon/kernel/peer.ts'
import type { Outgoing } from '../../../../daemon/kernel/transport.ts'
import { failureText } from '../failure-text.ts'
import type { Line } from '../line.ts'
import { sentTotal } from '../metrics.ts'
import { inBatches, oneByOne } from '../one-at-a-time.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Recent } from './inventory.ts'
import { seal } from './sealing.ts'
import { freezeIfSetBack } from './set-back.ts'

export type Sent = { msg_id: string; epoch: number; seq: number }

/** `compose` is called in the step that numbers the message: what it says may depend on the number before. */
export type Asked = {
  readonly peer: Peer
  readonly compose: (head: SentHead, recent: Recent) => Outgoing | Promise<Outgoing>
}

export type Numbering = {
  /** Durable when it resolves. Throws what `compose` throws, and `Refused` for a message that cannot be sealed. */
  next(asked: Asked): Promise<Sent>
  /** Runs while nothing is being numbered. */
  alone<T>(run: () => Promise<T>): Promise<T>
  /** Whether the journal knows of all that has left here; a channel where it does not is frozen. Looks once. */
  check(): Promise<void>
}

/** Messages numbered by one write. */
const batch = 64

export function numbering(line: Line, around: Surroundings): Numbering {
  const alone = oneByOne()
  let isChecked = false
  const check = async () => {
    if (isChecked) return
    await freezeIfSetBack(line, around)
    isChecked = true
  }
  const number = inBatches(batch, (asked: readonly Asked[]) =>
    alone(async () => {
      await check()
      return await numberAll(line, asked, around)
    }),
  )
  return {
    alone,
    check,
    async next(asked) {
      const sent = await number(asked)
      if (sent instanceof Error) throw sent
      return sent
    },
  }
}

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
  const recent: Recent = async (limit) => {
    const durable = await journal.digests(channel, limit)
    return [...durable, ...sealed.map(({ digest }) => digest)].slice(-limit)
  }
  for (const { compose, peer } of asked) {
    const made = await sealedOnce(line, await composed(compose, head, recent), peer, head, sealed, around)
    answers.push(made instanceof Error ? made : sentOf(made))
    if (made instanceof Error || !('body' in made)) continue
    sealed.push(made)
    head = made
  }
  if (sealed.length > 0 && (await journal.append(channel, sealed)) === 'behind') {
    throw refuse('unavailable', 'another process sends on this channel; only one may')
  }
  if (sealed.length > 0) around.reached('appended')
  metrics.count(sentTotal, { peer: line.peer }, sealed.length)
  return answers
}

async function composed(compose: Asked['compose'], head: SentHead, recent: Recent): Promise<Outgoing | Error> {
  try {
    return await compose(head, recent)
  } catch (error) {
    return asError(error)
  }
}

/** Without a body: what has its number already. */
async function sealedOnce(
  line: Line,
  message: Outgoing | Error,
  peer: Peer,
  head: SentHead,
  before: readonly Sealed[],
  around: Surroundings,
): Promise<Sealed | Sent | Error> {
  if (message instanceof Error) return message
  const channel = line.channel.out
  const twin = before.find(({ event_id }) => event_id === message.event_id)
  const known = twin ? sentOf(twin) : await around.journal.sent(channel, message.event_id)
  return known ?? (await seal(message, channel, peer, head, around).catch(asError))
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(failureText(error))
}

function sentOf({ msg_id, epoch, seq }: Sent): Sent {
  return { msg_id, epoch, seq }
}
