// Reads the queue of one peer: writes each message to the file-drop folders, and acknowledges it once it is judged.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConsumeMessage } from 'amqplib'
import type { IntakeBarrier, MessageReceiver } from '../../../daemon/kernel/messaging/carrier.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import { skipLargeMessages } from '../../platform/amqp-frames/skip-large-messages.ts'
import { type BrokerChannel, type BrokerConnection, reply_timeout_ms } from './broker-connection.ts'
import { describeBrokerError, withTimeout } from './broker-error.ts'
import { landMessages, type UnacknowledgedBatch } from './land-messages.ts'
import { type AmqpParcelLimits, maxMessageBytes } from './message.ts'
import { type AmqpInbox, type AmqpQueueType, declareInbox } from './topology.ts'

/** Messages that the broker hands over before any is acknowledged. */
const max_prefetch_messages = 64
/** Bound for all peers together, if each sends the largest accepted messages: a broker counts messages, not bytes. */
const max_prefetch_bytes = 41_943_040
/** Interval of repeated declarations: a deleted exchange is not reported to its users. */
const redeclare_interval_ms = 60_000
/** Failures that waits grow with while messages cannot be landed: a place may be free again at any time. */
const max_backoff_failures = 4

export type PeerReaderOptions = {
  readonly peer: string
  /** How many peers are read from, each by a reader. */
  readonly peer_count: number
  readonly inbox: AmqpInbox
  readonly queue_type: AmqpQueueType
  /** One per reader: a fault of its connection stops no other peer. */
  readonly connection: BrokerConnection
  readonly limits: AmqpParcelLimits
  readonly user: string | undefined
  readonly land: MessageReceiver
  readonly judged: IntakeBarrier
  /** Resolves when the broker has the message among the dead letters. */
  readonly deadLetter: (message: ConsumeMessage, reason: string, detail: string) => Promise<void>
  readonly log: Log
  /** How long to wait after so many failures, in milliseconds. */
  readonly wait_ms: (failures: number) => number
}

export type PeerReader = {
  /** The fault; undefined while it reads. */
  trouble(): string | undefined
  /** Finishes the messages in hand; messages without acknowledgement go back to the broker. */
  stop(): Promise<void>
}

/** How many messages of each of so many peers may be here; one of each, however many peers there are. */
export function prefetchCount(limits: AmqpParcelLimits, peers: number): number {
  return Math.max(
    1,
    Math.min(max_prefetch_messages, Math.floor(max_prefetch_bytes / (maxMessageBytes(limits) * peers))),
  )
}

/** Reads, and starts again after every end of the channel or connection. */
export function peerReader(reading: PeerReaderOptions): PeerReader {
  const { peer, connection, log } = reading
  const stopping = new AbortController()
  let trouble: string | undefined = 'has not been reached yet'
  let failures = 0
  const reportTrouble: TroubleReporter = (now) => {
    if (now !== undefined && now !== trouble) log.warn('carrier.broker.paused', { peer, detail: now })
    if (now === undefined && trouble !== undefined) log.info('carrier.broker.resumed', { peer, failures })
    if (now === undefined) failures = 0
    trouble = now
  }
  const run = async () => {
    while (!stopping.signal.aborted) {
      trouble = await readUntilClosed(reading, stopping.signal, reportTrouble)
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
      await connection.close()
    },
  }
}

type TroubleReporter = (trouble: string | undefined) => void

/** Why it ended. */
async function readUntilClosed(
  reading: PeerReaderOptions,
  stopping: AbortSignal,
  reportTrouble: TroubleReporter,
): Promise<string> {
  const arrivals = arrivalBuffer(stopping)
  try {
    const opening = reading.connection.channel()
    const opened = await Promise.race([opening, arrivals.stopped])
    if (!opened) return 'the site is stopping'
    opened.ended.catch((error) => arrivals.end(describeBrokerError(error)))
    try {
      return await consumeInbox(opened, reading, arrivals, reportTrouble)
    } finally {
      await withTimeout(reply_timeout_ms, 'end a channel', opened.channel.close()).catch(() => undefined)
    }
  } catch (error) {
    return describeBrokerError(error)
  } finally {
    arrivals.close()
  }
}

async function consumeInbox(
  { channel, ended }: BrokerChannel,
  reading: PeerReaderOptions,
  arrivals: ArrivalBuffer,
  reportTrouble: TroubleReporter,
): Promise<string> {
  const { inbox, limits } = reading
  const declared = () =>
    withTimeout(reply_timeout_ms, `declare ${inbox.queue}`, declareInbox(channel, inbox, reading.queue_type))
  const isLarge = skipLargeMessages(channel, maxMessageBytes(limits))
  await declared()
  await channel.prefetch(prefetchCount(limits, reading.peer_count))
  const { consumerTag } = await withTimeout(
    reply_timeout_ms,
    `open ${inbox.queue}`,
    channel.consume(inbox.queue, (message) => arrivals.arrived(message)),
  )
  reportTrouble(undefined)
  let batch: UnacknowledgedBatch = { messages: [], trouble: undefined }
  for (let failures = 0; arrivals.ended() === undefined; ) {
    if (batch.messages.length === 0 && !(await arrivals.something(redeclare_interval_ms))) {
      await declared()
      continue
    }
    if (arrivals.ended() !== undefined) break
    const taken = landMessages({ ...reading, channel, isLarge }, [...batch.messages, ...arrivals.take()])
    // Messages in hand when the channel ends are delivered again on another one.
    batch = await Promise.race([taken, ended])
    reportTrouble(batch.trouble)
    failures = batch.trouble === undefined ? 0 : Math.min(failures + 1, max_backoff_failures)
    if (failures > 0) await arrivals.rest(reading.wait_ms(failures))
  }
  if (arrivals.isStopping()) await withTimeout(reply_timeout_ms, 'stop sending', channel.cancel(consumerTag))
  return arrivals.ended() ?? ''
}

type ArrivalBuffer = ReturnType<typeof arrivalBuffer>

/** Messages that have arrived and are not in hand, and the reason why no more will arrive. */
function arrivalBuffer(stopping: AbortSignal) {
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
    /** Yields arriving messages until the time is up or no more will come. */
    async rest(limit_ms: number): Promise<void> {
      const latest = performance.now() + limit_ms
      for (let left = limit_ms; left > 0 && why === undefined; left = latest - performance.now()) await woken(left)
    },
    close: () => stopping.removeEventListener('abort', stop),
  }
}
