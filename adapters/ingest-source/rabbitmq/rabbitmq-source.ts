// Messages of a queue or a stream of RabbitMQ, by a consumer that has the queue alone.
import type { Channel, ConsumeMessage } from 'amqplib'
import type {
  MessageFate,
  MessageRequest,
  MessageSource,
} from '../../../daemon/shared/message-source/message-source.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { skipLargeMessages } from '../../platform/amqp-frames/skip-large-messages.ts'
import { describeDelivery } from './delivery.ts'
import type { RabbitmqDriver } from './driver.ts'
import { RefusedConsumer } from './rabbitmq-errors.ts'
import { type RabbitmqAccess, type RabbitmqChannel, RabbitmqSession } from './rabbitmq-session.ts'

/** A stream has no parts; those of a super stream are queues of their own. */
const only_partition = '0'

export function rabbitmqSource(access: RabbitmqAccess, driver: RabbitmqDriver): MessageSource {
  const session = new RabbitmqSession(access, driver)
  let taken: TakenMessages | undefined
  return {
    async probe(signal) {
      const { channel } = await session.channel(signal)
      const { messageCount } = await session.request(() => channel.checkQueue(access.queue))
      return `a queue with ${Number(messageCount)} messages`
    },
    async receive(request, isEnough, signal) {
      const reading = new QueueReading(session, access.queue, request)
      taken = reading.taken
      await reading.run(isEnough, signal)
    },
    async acknowledge() {
      await taken?.acknowledge(session)
    },
    close: () => session.close(),
  }
}

/** Deliveries that are acknowledged together. */
class TakenMessages {
  channel: Channel | undefined
  consumer: string | undefined
  #tags: number[] = []
  #isWhole = true

  add(tag: number): void {
    this.#tags.push(tag)
  }

  /** One before or after others was not taken. */
  skip(): void {
    this.#isWhole = false
  }

  /**
   * The consumer ends last: as long as it is there, no other one begins, so that none finds a queue without messages that this channel
   * still has. The answer to a request on the channel comes after what was sent before on it.
   */
  async acknowledge(session: RabbitmqSession): Promise<void> {
    const { channel, consumer } = this
    const last = this.#tags.at(-1)
    if (!channel || last === undefined) return
    const ack = (deliveryTag: number, isUpTo: boolean) =>
      channel.ack({ fields: { deliveryTag } } as ConsumeMessage, isUpTo)
    await session.request(async () => {
      if (this.#isWhole) ack(last, true)
      else for (const tag of this.#tags) ack(tag, false)
      if (consumer !== undefined) await channel.cancel(consumer)
      await channel.prefetch(1)
    })
    this.#tags = []
  }
}

/**
 * Messages that one consumer is sent before another one follows it on the channel: what was sent and not taken counts as a failed
 * delivery, of which some queues allow few.
 */
const window_messages = 200
/** For the message before those that are new, after the end of the reading. */
const former_timeout_ms = 10_000

class QueueReading {
  readonly #session: RabbitmqSession
  readonly #queue: string
  readonly #request: MessageRequest
  readonly taken = new TakenMessages()
  readonly #fault = Promise.withResolvers<never>()
  /** Where the next consumer of a stream begins; undefined for a queue. */
  #next: bigint | 'first' | undefined
  /** Offset of the last message that was read before, which a stream still has. */
  #former: bigint | undefined
  readonly #found = Promise.withResolvers<void>()
  #isOver = false
  #window = { left: 0, filled: Promise.withResolvers<void>() }

  constructor(session: RabbitmqSession, queue: string, request: MessageRequest) {
    this.#session = session
    this.#queue = queue
    this.#request = request
    this.#fault.promise.catch(() => undefined)
  }

  async run(isEnough: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const abort = () => this.#fault.reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    const enough = isEnough.then(() => {
      this.#isOver = true
    })
    try {
      const { channel, ended } = await this.#open(signal)
      this.#request.onOpen()
      while (!this.#isOver) {
        await Promise.race([enough, ended, this.#fault.promise, this.#window.filled.promise])
        if (this.#isOver) break
        await this.#session.request(() => channel.cancel(this.taken.consumer ?? ''))
        await this.#consume(channel)
      }
      await Promise.race([this.#requireFormer(), ended, this.#fault.promise])
      // A connection that is dead without notice is not a queue without messages.
      await Promise.race([this.#session.request(() => channel.prefetch(1)), this.#fault.promise])
    } finally {
      this.#isOver = true
      signal.removeEventListener('abort', abort)
    }
  }

  /**
   * Of a stream that was declared again, and is shorter than what has landed, the broker sends nothing, or what is behind the place: its
   * messages would never land.
   */
  async #requireFormer(): Promise<void> {
    if (this.#former === undefined) return
    const { promise: late, reject } = Promise.withResolvers<never>()
    const fault = new RowSourceError(
      'the stream ends before the place up to which it was read, as one that was declared again: begin again with another cursor_generation',
      false,
    )
    const timer = setTimeout(() => reject(fault), former_timeout_ms)
    await Promise.race([this.#found.promise, late]).finally(() => clearTimeout(timer))
  }

  /** A stream alone takes an offset; a queue refuses it, which ends the channel. */
  async #open(signal: AbortSignal): Promise<RabbitmqChannel> {
    const known = this.#request.position.offsets.get(only_partition)
    this.#next = known ?? 'first'
    this.#former = known !== undefined && known > 0n ? known - 1n : undefined
    try {
      return await this.#begin(signal)
    } catch (error) {
      if (!(error instanceof RefusedConsumer)) throw error
    }
    if (known !== undefined)
      throw new RowSourceError('the queue is not a stream any more: begin again with another cursor_generation')
    this.#next = undefined
    return await this.#begin(signal)
  }

  async #begin(signal: AbortSignal): Promise<RabbitmqChannel> {
    const opened = await this.#session.channel(signal)
    this.taken.channel = opened.channel
    this.#isLarge = skipLargeMessages(opened.channel, this.#request.max_message_bytes)
    await this.#consume(opened.channel)
    return opened
  }

  #isLarge: (message: ConsumeMessage) => boolean = () => false

  /** Exclusive: once a consumer is the only one, what a lost one had is in the queue again. */
  async #consume(channel: Channel): Promise<void> {
    this.#window = { left: window_messages, filled: Promise.withResolvers() }
    await this.#session.request(() => channel.prefetch(window_messages))
    const next = this.taken.consumer === undefined ? (this.#former ?? this.#next) : this.#next
    const offset = typeof next === 'bigint' ? Number(next) : next
    const options = { exclusive: true, arguments: offset === undefined ? {} : { 'x-stream-offset': offset } }
    const take = (message: ConsumeMessage | null) => this.#take(message)
    const { consumerTag } = await this.#session.request(() => channel.consume(this.#queue, take, options))
    this.taken.consumer = consumerTag
  }

  /** The library takes what this throws for its own fault. */
  #take(message: ConsumeMessage | null): void {
    if (message && this.#former !== undefined) this.#lookForFormer(message, this.#former)
    if (this.#isOver) return
    try {
      if (!message) throw new RowSourceError('the broker removed the queue, or its consumer', false)
      if (this.#hand(message) === 'take') this.taken.add(message.fields.deliveryTag)
      else this.taken.skip()
      this.#window.left--
      if (this.#window.left <= 0) this.#window.filled.resolve()
    } catch (error) {
      this.#isOver = true
      this.#fault.reject(error)
    }
  }

  #lookForFormer(message: ConsumeMessage, former: bigint): void {
    const { place } = describeDelivery(message, only_partition)
    if (!place || place.offset < former) return
    this.#former = undefined
    this.#found.resolve()
  }

  #hand(message: ConsumeMessage): MessageFate {
    const described = describeDelivery(message, only_partition)
    const { place } = described
    if ((place !== undefined) !== (this.#next !== undefined))
      throw new RowSourceError('the broker does not answer as a RabbitMQ does')
    if (place) {
      // A stream gives whole pieces, which may begin before the offset.
      if (typeof this.#next === 'bigint' && place.offset < this.#next) return 'take'
      this.#next = place.offset + 1n
    }
    if (!this.#isLarge(message)) return this.#request.onMessage(described)
    this.#request.onLarge()
    return 'leave'
  }
}
