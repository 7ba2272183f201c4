// One session at a RabbitMQ: its address by the rule, TLS, and time limits of each request.
import type { Channel, ChannelModel } from 'amqplib'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { ServerAccess } from '../../../daemon/shared/row-source/server-access.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { checkedLookup, findLiteralDenial, systemResolver } from '../../platform/address-rule/checked-lookup.ts'
import type { RabbitmqDriver } from './driver.ts'
import { describeRabbitmqError, noAnswer } from './rabbitmq-errors.ts'

export type RabbitmqAccess = ServerAccess & {
  readonly virtual_host: string
  readonly queue: string
  readonly rule: AddressRule
}

/** To connect, with TLS and the proof of the secret. */
const connect_timeout_ms = 10_000
const reply_timeout_ms = 15_000
const close_timeout_ms = 2_000
/** A broker that is silent for two of these is taken for dead. */
const heartbeat_s = 15
const max_frame_bytes = 131_072

export type RabbitmqChannel = {
  readonly channel: Channel
  /** Rejects with `RowSourceError` when the channel has ended. */
  readonly ended: Promise<never>
}

export class RabbitmqSession {
  readonly #access: RabbitmqAccess
  readonly #driver: RabbitmqDriver
  #connection: ChannelModel | undefined
  #fault: unknown

  constructor(access: RabbitmqAccess, driver: RabbitmqDriver) {
    this.#access = access
    this.#driver = driver
  }

  /** Opens the connection with the first one. A fault ends the channel. Throws `RowSourceError`, and the reason of the signal. */
  async channel(signal: AbortSignal): Promise<RabbitmqChannel> {
    this.#connection ??= await this.#connect(signal)
    const connection = this.#connection
    const channel = await this.request(() => connection.createChannel())
    const { promise: ended, reject } = Promise.withResolvers<never>()
    ended.catch(() => undefined)
    channel.on('error', (error) => reject(describeRabbitmqError(error)))
    // The connection reports its reason after its channels have ended.
    channel.on('close', () => queueMicrotask(() => reject(describeRabbitmqError(this.#fault ?? new Error('closed')))))
    return { channel, ended }
  }

  /** Throws `RowSourceError`, also where the broker does not answer. */
  async request<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await limitTime(send(), reply_timeout_ms)
    } catch (error) {
      throw describeRabbitmqError(this.#fault ?? error)
    }
  }

  async #connect(signal: AbortSignal): Promise<ChannelModel> {
    const { host, port, virtual_host, username, password, tls, ca, rule } = this.#access
    if (username === undefined || password === undefined)
      throw new RowSourceError('a connection to RabbitMQ has a username and a password')
    signal.throwIfAborted()
    const { connect, credentials } = this.#driver
    const at = {
      ...{ protocol: tls === 'off' ? 'amqp' : 'amqps', hostname: host, port, vhost: encodeURIComponent(virtual_host) },
      ...{ heartbeat: heartbeat_s, frameMax: max_frame_bytes, maxFrameSize: 2 * max_frame_bytes },
    }
    const options = {
      ...{ timeout: connect_timeout_ms, noDelay: true, lookup: checkedLookup(rule, systemResolver) },
      credentials: credentials.plain(username, password),
      clientProperties: { connection_name: 'platform: ingest' },
      ...(tls === 'off'
        ? {}
        : { minVersion: 'TLSv1.2' as const, rejectUnauthorized: true, ...(ca !== undefined && { ca }) }),
    }
    const denial = findLiteralDenial(host, rule)
    const opening = denial ? Promise.reject(denial) : connect(at, options)
    try {
      const connection = await limitTime(opening, 2 * connect_timeout_ms)
      // Without a listener an error would end the thread.
      connection.on('error', (error) => {
        this.#fault ??= error
      })
      connection.on('close', (error) => {
        this.#fault ??= error ?? new Error('closed')
      })
      return connection
    } catch (error) {
      opening.then(endConnection).catch(() => undefined)
      throw describeRabbitmqError(error)
    }
  }

  /** Messages that were not acknowledged go back to the queue. */
  async close(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    if (!connection) return
    // The library throws at once where the connection is closing already.
    const closing = async () => await connection.close()
    if (this.#fault === undefined) await limitTime(closing(), close_timeout_ms).catch(() => undefined)
    endConnection(connection)
  }
}

/** Parts of the library's connection that its types leave out. */
type AmqpConnectionParts = { readonly stream?: { destroy(): void }; readonly heartbeater?: { clear(): void } }

/** At once. Its heartbeats would keep the thread. */
function endConnection({ connection }: Pick<ChannelModel, 'connection'>): void {
  const { stream, heartbeater } = connection as AmqpConnectionParts
  heartbeater?.clear()
  stream?.destroy()
}

async function limitTime<T>(work: Promise<T>, limit_ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(noAnswer()), limit_ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    work.catch(() => undefined)
  }
}
