// Assigns the next number of the channel to each outgoing message, in order and only once.
import { refuse } from '../../../../../daemon/kernel/error/errors.ts'
import type { Peer } from '../../../../../daemon/kernel/identity/peer.ts'
import type { SealedMessage, SentHead } from '../../../../../daemon/kernel/messaging/journal.ts'
import type { OutboundMessage } from '../../../../../daemon/kernel/messaging/transport.ts'
import { describeFailure } from '../../failure-text.ts'
import type { FiledropContext } from '../../filedrop-context.ts'
import type { FiledropLink } from '../../link/filedrop-link.ts'
import { sentTotal } from '../../metrics.ts'
import { batchRequests, serialQueue } from '../../serial-work.ts'
import type { RecentDigests } from '../reports/compose-inventory.ts'
import { freezeIfRolledBack } from './journal-rollback.ts'
import { sealMessage } from './seal-message.ts'

export type NumberedMessage = { msg_id: string; epoch: number; seq: number }

/** `compose` is called in the step that numbers the message: what it says may depend on the number before. */
export type NumberingRequest = {
  readonly peer: Peer
  readonly compose: (head: SentHead, recent: RecentDigests) => OutboundMessage | Promise<OutboundMessage>
}

export type MessageNumbering = {
  /** Durable when it resolves. Throws what `compose` throws, and `Refusal` for a message that cannot be sealed. */
  next(request: NumberingRequest): Promise<NumberedMessage>
  /** Runs while nothing is being numbered. */
  alone<T>(run: () => Promise<T>): Promise<T>
  /** Whether the journal knows of all that has left here; a channel where it does not is frozen. Looks once. */
  check(): Promise<void>
}

/** Messages numbered by one write. */
const max_batch_messages = 64

export function messageNumbering(link: FiledropLink, filedrop: FiledropContext): MessageNumbering {
  const alone = serialQueue()
  let isChecked = false
  const check = async () => {
    if (isChecked) return
    await freezeIfRolledBack(link, filedrop)
    isChecked = true
  }
  const number = batchRequests(max_batch_messages, (requests: readonly NumberingRequest[]) =>
    alone(async () => {
      await check()
      return await numberBatch(link, requests, filedrop)
    }),
  )
  return {
    alone,
    check,
    async next(request) {
      const sent = await number(request)
      if (sent instanceof Error) throw sent
      return sent
    },
  }
}

/**
 * Numbers in the order of the requests, all durable by one write. A message that cannot be sealed gets its refusal and uses
 * no number.
 */
async function numberBatch(
  link: FiledropLink,
  requests: readonly NumberingRequest[],
  filedrop: FiledropContext,
): Promise<(NumberedMessage | Error)[]> {
  const { journal, metrics } = filedrop
  const channel = link.channel.out
  const answers: (NumberedMessage | Error)[] = []
  const sealed: SealedMessage[] = []
  let head = await journal.head(channel)
  const recent: RecentDigests = async (limit) => {
    const durable = await journal.digests(channel, limit)
    return [...durable, ...sealed.map(({ digest }) => digest)].slice(-limit)
  }
  for (const { compose, peer } of requests) {
    const made = await sealOnce(link, await composeMessage(compose, head, recent), peer, head, sealed, filedrop)
    answers.push(made instanceof Error ? made : toNumbered(made))
    if (made instanceof Error || !('body' in made)) continue
    sealed.push(made)
    head = made
  }
  if (sealed.length > 0 && (await journal.append(channel, sealed)) === 'behind') {
    throw refuse('unavailable', 'another process sends on this channel; only one may')
  }
  if (sealed.length > 0) filedrop.passFaultPoint('appended')
  metrics.count(sentTotal, { peer: link.peer }, sealed.length)
  return answers
}

async function composeMessage(
  compose: NumberingRequest['compose'],
  head: SentHead,
  recent: RecentDigests,
): Promise<OutboundMessage | Error> {
  try {
    return await compose(head, recent)
  } catch (error) {
    return toError(error)
  }
}

/** Without a body: what has its number already. */
async function sealOnce(
  link: FiledropLink,
  message: OutboundMessage | Error,
  peer: Peer,
  head: SentHead,
  before: readonly SealedMessage[],
  filedrop: FiledropContext,
): Promise<SealedMessage | NumberedMessage | Error> {
  if (message instanceof Error) return message
  const channel = link.channel.out
  const twin = before.find(({ event_id }) => event_id === message.event_id)
  const known = twin ? toNumbered(twin) : await filedrop.journal.findSent(channel, message.event_id)
  return known ?? (await sealMessage(message, channel, peer, head, filedrop).catch(toError))
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(describeFailure(error))
}

function toNumbered({ msg_id, epoch, seq }: NumberedMessage): NumberedMessage {
  return { msg_id, epoch, seq }
}
