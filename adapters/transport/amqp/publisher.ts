// Publishes to a broker and reports the outcome of each message: only a confirmed message is stored.
import type { ConfirmChannel, Options } from 'amqplib'
import type { BrokerChannel, BrokerConnection } from './broker-connection.ts'
import { withTimeout } from './broker-error.ts'

export type BrokerMessage = {
  readonly exchange: string
  readonly key: string
  readonly content: Buffer
  readonly properties: Pick<Options.Publish, 'messageId' | 'contentType' | 'type' | 'userId' | 'headers' | 'timestamp'>
}

/** `refused`: a queue takes no more. `unroutable`: no queue is bound for the key. */
export type PublishOutcome = 'confirmed' | 'refused' | 'unroutable'

export type BrokerPublisher = {
  /**
   * Resolves with the outcome of each message, in their order, once the broker has reported all; a confirmed message is on
   * its disk. Throws when outcomes are unknown: the channel ends then, and no further message leaves.
   */
  publish(drafts: readonly BrokerMessage[], signal: AbortSignal): Promise<PublishOutcome[]>
}

/** For the broker to say that it has read all. */
const channel_close_timeout_ms = 2_000

/** `returned`: ids of messages without a bound queue, until their senders know. */
type PublishChannel = BrokerChannel & { readonly returned: Set<string>; readonly isOver: () => boolean }

/** Opens a channel of its own, so that a refusal of the broker ends no other channel. */
export function brokerPublisher(link: BrokerConnection): BrokerPublisher {
  let current: Promise<PublishChannel> | undefined
  let published = 0
  const forget = (opened: Promise<PublishChannel>) => {
    if (current === opened) current = undefined
  }
  const ensureChannel = (): Promise<PublishChannel> => {
    if (current) return current
    const fresh = openPublishChannel(link)
    current = fresh
    fresh.then(({ ended }) => ended).catch(() => forget(fresh))
    return fresh
  }
  return {
    async publish(drafts, signal) {
      const blocked = link.blockedBy()
      if (blocked !== undefined) throw blockedError(blocked)
      const ids = drafts.map(() => String(++published))
      const interrupted = watchInterruption(link, signal)
      const holding = ensureChannel()
      let opened: PublishChannel | undefined
      try {
        opened = await Promise.race([holding, interrupted.happens])
        return await Promise.race([publishAndConfirm(opened, drafts, ids), opened.ended, interrupted.happens])
      } catch (error) {
        // A late confirmation must not count for the next attempt, and no unconfirmed message may leave later.
        forget(holding)
        if (opened) await closeChannel(link, opened)
        else holding.then(({ channel }) => channel.close()).catch(() => undefined)
        throw error
      } finally {
        interrupted.forget()
      }
    },
  }
}

/** The broker says `return` of a message before it confirms it. */
async function publishAndConfirm(
  { channel, returned, ended }: PublishChannel,
  drafts: readonly BrokerMessage[],
  ids: string[],
) {
  const answers: Promise<PublishOutcome>[] = []
  for (const [index, { exchange, key, content, properties }] of drafts.entries()) {
    const id = ids[index] ?? ''
    const options = { ...properties, persistent: true, mandatory: true, correlationId: id }
    const { promise, resolve } = Promise.withResolvers<PublishOutcome>()
    const hasRoom = channel.publish(exchange, key, content, options, (nacked) =>
      resolve(nacked ? 'refused' : returned.delete(id) ? 'unroutable' : 'confirmed'),
    )
    answers.push(promise)
    if (!hasRoom) await Promise.race([waitForDrain(channel), ended])
  }
  const all = await Promise.all(answers)
  // The end of a channel answers as a refusal does, and comes first.
  await Promise.race([ended, new Promise((next) => setImmediate(next))])
  return all
}

/** The broker answers the end of a channel after all that came before; one that reads nothing leaves it in our socket. */
async function closeChannel(link: BrokerConnection, { channel, isOver }: PublishChannel): Promise<void> {
  if (isOver()) return
  await withTimeout(channel_close_timeout_ms, 'end a channel', channel.close()).catch(() => isOver() || link.cut())
}

function waitForDrain(channel: ConfirmChannel): Promise<void> {
  return new Promise((resolve) => channel.once('drain', resolve))
}

async function openPublishChannel(link: BrokerConnection): Promise<PublishChannel> {
  const opened = await link.channel()
  const returned = new Set<string>()
  opened.channel.on('return', ({ properties }) => returned.add(String(properties.correlationId)))
  let isOver = false
  opened.ended.catch(() => {
    isOver = true
  })
  return { ...opened, returned, isOver: () => isOver }
}

function watchInterruption(link: BrokerConnection, signal: AbortSignal) {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => undefined)
  const stop = () => reject(new Error('the broker did not confirm the messages in time'))
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  const listening = link.onBlocked((why) => reject(blockedError(why)))
  return {
    happens: promise,
    forget() {
      signal.removeEventListener('abort', stop)
      listening()
    },
  }
}

function blockedError(why: string): Error {
  return new Error(`the broker accepts no messages at present: ${why}`)
}
