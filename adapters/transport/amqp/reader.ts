// Brings what one peer has sent: reads its queue, lays each message where file-drop looks, acknowledges what has been judged.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConsumeMessage } from 'amqplib'
import type { Log } from '../../../daemon/kernel/call.ts'
import type { Judged, Landed } from '../../../daemon/kernel/carrier.ts'
import { leaveOutLarge } from './large-messages.ts'
import { answer_timeout_ms, type Line, type Link } from './link.ts'
import { type Limits, largest } from './message.ts'
import { type Batch, takeIn } from './taking-in.ts'
import { declareInbox, type Inbox, type QueueType } from './topology.ts'
import { troubleOf, within } from './trouble.ts'

/** Messages that the broker hands over before any is acknowledged. */
const most_at_once = 64
/** Of all peers together, if each sends the largest that is taken: a broker counts messages and no bytes. */
const most_bytes = 41_943_040
/** How often what is declared is declared again: it may have been deleted, and nobody is told of an exchange. */
const declare_every_ms = 60_000
/** Failures that waits grow with while messages cannot be landed: a place may be free again at any time. */
const most_patience = 4

export type Reading = {
  readonly peer: string
  /** How many peers are read from, each by a reader. */
  readonly of_peers: number
  readonly inbox: Inbox
  readonly queue_type: QueueType
  /** Of its own: what breaks it stops no other peer. */
  readonly link: Link
  readonly limits: Limits
  readonly user: string | undefined
  readonly land: Landed
  readonly judged: Judged
  /** Resolves when the broker has the message among the dead letters. */
  readonly bury: (message: ConsumeMessage, reason: string, detail: string) => Promise<void>
  readonly log: Log
  /** How long to wait after so many failures, in milliseconds. */
  readonly wait_ms: (failures: number) => number
}

export type Reader = {
  /** What is wrong; undefined while it reads. */
  trouble(): string | undefined
  /** What is in hand is finished; what has not been acknowledged goes back to the broker. */
  stop(): Promise<void>
}

/** How many messages of each of so many peers may be here; one of each, however many peers there are. */
export function prefetchFor(limits: Limits, peers: number): number {
  return Math.max(1, Math.min(most_at_once, Math.floor(most_bytes / (largest(limits) * peers))))
}

/** Begins, and begins again after whatever ends it. */
export function reader(reading: Reading): Reader {
  const { peer, link, log } = reading
  const stopping = new AbortController()
  let trouble: string | undefined = 'has not been reached yet'
  let failures = 0
  const tell: Tell = (now) => {
    if (now !== undefined && now !== trouble) log.warn('carrier.broker.waits', { peer, detail: now })
    if (now === undefined && trouble !== undefined) log.info('carrier.broker.reads', { peer, failures })
    if (now === undefined) failures = 0
    trouble = now
  }
  const run = async () => {
    while (!stopping.signal.aborted) {
      trouble = await readUntilItEnds(reading, stopping.signal, tell)
      if (stopping.signal.aborted) return
      failures += 1
      log.warn('carrier.broker.unreached', { peer, failures, detail: trouble })
      await sleep(reading.wait_ms(failures), undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const running = run()
  return {
    trouble: () => trouble,
    async stop() {
      stopping.abort()
      await running
      await link.close()
    },
  }
}

type Tell = (trouble: string | undefined) => void

/** Why it ended. */
async function readUntilItEnds(reading: Reading, stopping: AbortSignal, tell: Tell): Promise<string> {
  const pen = arrivals(stopping)
  try {
    const opening = reading.link.channel()
    const line = await Promise.race([opening, pen.stopped])
    if (!line) return 'the site is stopping'
    line.ended.catch((error) => pen.end(troubleOf(error)))
    try {
      return await readFrom(line, reading, pen, tell)
    } finally {
      await within(answer_timeout_ms, 'end a channel', line.channel.close()).catch(() => undefined)
    }
  } catch (error) {
    return troubleOf(error)
  } finally {
    pen.close()
  }
}

async function readFrom({ channel, ended }: Line, reading: Reading, pen: Pen, tell: Tell): Promise<string> {
  const { inbox, limits } = reading
  const declared = () =>
    within(answer_timeout_ms, `declare ${inbox.queue}`, declareInbox(channel, inbox, reading.queue_type))
  const isLarge = leaveOutLarge(channel, largest(limits))
  await declared()
  await channel.prefetch(prefetchFor(limits, reading.of_peers))
  const { consumerTag } = await within(
    answer_timeout_ms,
    `open ${inbox.queue}`,
    channel.consume(inbox.queue, (message) => pen.arrived(message)),
  )
  tell(undefined)
  let batch: Batch = { messages: [], trouble: undefined }
  for (let failures = 0; pen.ended() === undefined; ) {
    if (batch.messages.length === 0 && !(await pen.something(declare_every_ms))) {
      await declared()
      continue
    }
    if (pen.ended() !== undefined) break
    const taken = takeIn({ ...reading, channel, isLarge }, [...batch.messages, ...pen.take()])
    // What is in hand when the channel ends comes again by another.
    batch = await Promise.race([taken, ended])
    tell(batch.trouble)
    failures = batch.trouble === undefined ? 0 : Math.min(failures + 1, most_patience)
    if (failures > 0) await pen.rest(reading.wait_ms(failures))
  }
  if (pen.isStopping()) await within(answer_timeout_ms, 'stop sending', channel.cancel(consumerTag))
  return pen.ended() ?? ''
}

type Pen = ReturnType<typeof arrivals>

/** What has arrived and is not in hand, and why no more will. */
function arrivals(stopping: AbortSignal) {
  const waiting: ConsumeMessage[] = []
  const stopped = Promise.withResolvers<undefined>()
  let why: string | undefined
  let wake = () => {}
  const end = (reason: string) => {
    why ??= reason
    wake()
  }
  const stop = () => {
    stopped.resolve(undefined)
    end('the site is stopping')
  }
  stopping.addEventListener('abort', stop)
  if (stopping.aborted) stop()
  const woken = (limit_ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limit_ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  return {
    stopped: stopped.promise,
    isStopping: () => stopping.aborted,
    ended: () => why,
    end,
    /** The broker says `null` when the queue is there no more. */
    arrived(message: ConsumeMessage | null) {
      if (!message) return end('the queue has been deleted')
      waiting.push(message)
      wake()
    },
    take: () => waiting.splice(0),
    /** Whether there is something to do within this time. */
    async something(limit_ms: number): Promise<boolean> {
      if (waiting.length === 0 && why === undefined) await woken(limit_ms)
      return waiting.length > 0 || why !== undefined
    },
    /** Whatever arrives, until the time is up or no more will come. */
    async rest(limit_ms: number): Promise<void> {
      const latest = performance.now() + limit_ms
      for (let left = limit_ms; left > 0 && why === undefined; left = latest - performance.now()) await woken(left)
    },
    close: () => stopping.removeEventListener('abort', stop),
  }
}
