// Publishes to a broker, and knows of each message what became of it: only what is confirmed is there.
import type { ConfirmChannel, Options } from 'amqplib'
import type { Line, Link } from './link.ts'
import { within } from './trouble.ts'

export type Draft = {
  readonly exchange: string
  readonly key: string
  readonly content: Buffer
  readonly about: Pick<Options.Publish, 'messageId' | 'contentType' | 'type' | 'userId' | 'headers' | 'timestamp'>
}

/** `refused`: a queue takes no more. `unroutable`: no queue is bound for the key. */
export type Outcome = 'confirmed' | 'refused' | 'unroutable'

export type Publisher = {
  /**
   * Resolves with what became of each, in the order given, once the broker has said so of all; what is confirmed is on its
   * disk. Throws when it cannot be known: the channel ends then, and all may be there or not; but nothing leaves any more.
   */
  publish(drafts: readonly Draft[], signal: AbortSignal): Promise<Outcome[]>
}

/** For the broker to say that it has read all. */
const quiet_ms = 2_000

/** `returned`: of messages that no queue was bound for, until their senders have been told. */
type Sending = Line & { readonly returned: Set<string>; readonly isOver: () => boolean }

/** On a channel of its own, so that what the broker refuses here ends nobody else's. */
export function publisher(link: Link): Publisher {
  let current: Promise<Sending> | undefined
  let published = 0
  const forget = (line: Promise<Sending>) => {
    if (current === line) current = undefined
  }
  const standing = (): Promise<Sending> => {
    if (current) return current
    const fresh = open(link)
    current = fresh
    fresh.then(({ ended }) => ended).catch(() => forget(fresh))
    return fresh
  }
  return {
    async publish(drafts, signal) {
      const blocked = link.blockedBy()
      if (blocked !== undefined) throw takesNothing(blocked)
      const ids = drafts.map(() => String(++published))
      const interrupted = interruption(link, signal)
      const holding = standing()
      let line: Sending | undefined
      try {
        line = await Promise.race([holding, interrupted.happens])
        return await Promise.race([outcomes(line, drafts, ids), line.ended, interrupted.happens])
      } catch (error) {
        // What was not confirmed by now must not be taken for the next attempt's, nor leave later.
        forget(holding)
        if (line) await quiet(link, line)
        else holding.then(({ channel }) => channel.close()).catch(() => undefined)
        throw error
      } finally {
        interrupted.forget()
      }
    },
  }
}

/** The broker says `return` of a message before it confirms it. */
async function outcomes({ channel, returned, ended }: Sending, drafts: readonly Draft[], ids: string[]) {
  const answers: Promise<Outcome>[] = []
  for (const [index, { exchange, key, content, about }] of drafts.entries()) {
    const id = ids[index] ?? ''
    const options = { ...about, persistent: true, mandatory: true, correlationId: id }
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const hasRoom = channel.publish(exchange, key, content, options, (nacked) =>
      resolve(nacked ? 'refused' : returned.delete(id) ? 'unroutable' : 'confirmed'),
    )
    answers.push(promise)
    if (!hasRoom) await Promise.race([drained(channel), ended])
  }
  const all = await Promise.all(answers)
  // The end of a channel answers as a refusal does, and comes first.
  await Promise.race([ended, new Promise((next) => setImmediate(next))])
  return all
}

/** The broker answers the end of a channel after all that came before; one that reads nothing leaves it in our socket. */
async function quiet(link: Link, { channel, isOver }: Sending): Promise<void> {
  if (isOver()) return
  await within(quiet_ms, 'end a channel', channel.close()).catch(() => isOver() || link.cut())
}

function drained(channel: ConfirmChannel): Promise<void> {
  return new Promise((resolve) => channel.once('drain', resolve))
}

async function open(link: Link): Promise<Sending> {
  const line = await link.channel()
  const returned = new Set<string>()
  line.channel.on('return', ({ properties }) => returned.add(String(properties.correlationId)))
  let isOver = false
  line.ended.catch(() => {
    isOver = true
  })
  return { ...line, returned, isOver: () => isOver }
}

function interruption(link: Link, signal: AbortSignal) {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => undefined)
  const stop = () => reject(new Error('the broker has not confirmed the messages in time'))
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  const listening = link.onBlocked((why) => reject(takesNothing(why)))
  return {
    happens: promise,
    forget() {
      signal.removeEventListener('abort', stop)
      listening()
    },
  }
}

function takesNothing(why: string): Error {
  return new Error(`the broker takes no messages for now: ${why}`)
}
