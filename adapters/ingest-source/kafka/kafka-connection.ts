// One connection to a broker of Kafka: its address by the rule, TLS, the proof of the user, and one request at a time.
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { checkedLookup, findLiteralDenial, systemResolver } from '../../platform/address-rule/checked-lookup.ts'
import type { KafkaAccess } from './kafka-access.ts'
import { describeErrorCode, describeKafkaError, noAnswer, notKafka } from './kafka-errors.ts'
import {
  apis,
  type BrokerVersions,
  chooseMechanism,
  type KafkaRequest,
  requestVersions,
  sendProof,
  usual_answer_bytes,
} from './kafka-request.ts'
import { proveUser } from './sasl.ts'
import { MalformedBytesError, WireReader } from './wire-reader.ts'
import { WireWriter } from './wire-writer.ts'

export type BrokerPlace = { readonly host: string; readonly port: number }

/** With TLS. */
const connect_timeout_ms = 10_000
const client_name = 'platform-ingest'
/** Part of the time for which a broker accepts a proof, after which another connection takes over. */
const lifetime_share = 0.8

type Answer = {
  readonly max_bytes: number
  /** Once its length is known. */
  bytes?: Buffer
  filled: number
  readonly resolve: (bytes: Buffer) => void
  readonly reject: (error: unknown) => void
}

export class KafkaConnection {
  readonly #socket: Socket
  readonly #length = Buffer.alloc(4)
  #length_bytes = 0
  #correlation = 0
  #answer: Answer | undefined
  #fault: unknown
  #stale_at = Number.POSITIVE_INFINITY
  #versions: BrokerVersions = new Map()

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', (error) => this.end(error))
    socket.on('close', () => this.end(new RowSourceError(lost_connection, false)))
    socket.on('data', (bytes: Buffer) => this.#take(bytes))
  }

  /** Throws `RowSourceError`. `onSocket`: with it the opening can be ended. */
  static async open(
    access: KafkaAccess,
    place: BrokerPlace,
    onSocket: (socket: Socket) => void,
  ): Promise<KafkaConnection> {
    const socket = await openSocket(access, place, onSocket)
    const connection = new KafkaConnection(socket)
    try {
      await connection.#begin(access)
      return connection
    } catch (error) {
      connection.end(error)
      throw error
    }
  }

  /** False once it has ended, or its proof is soon too old. */
  get isUsable(): boolean {
    return this.#fault === undefined && performance.now() < this.#stale_at
  }

  async #begin(access: KafkaAccess): Promise<void> {
    const { error, versions } = await this.request(requestVersions())
    if (error !== 0) throw describeErrorCode(error)
    this.#versions = versions
    if (access.mechanism === 'none') return
    const chosen = await this.request(chooseMechanism(access.mechanism.toUpperCase()))
    if (chosen.error !== 0) throw describeErrorCode(chosen.error)
    await proveUser(access, async (message) => {
      const answer = await this.request(sendProof(message))
      if (answer.error !== 0) throw describeErrorCode(answer.error)
      if (answer.lifetime_ms > 0n) this.#stale_at = performance.now() + Number(answer.lifetime_ms) * lifetime_share
      return answer.bytes
    })
  }

  /** The greatest version up to `wanted` that the broker takes. Throws `RowSourceError` below `least`. */
  version(api: keyof typeof apis, least: number, wanted: number): number {
    const { min = 1, max = 0 } = this.#versions.get(apis[api]) ?? {}
    const version = Math.min(max, wanted)
    if (version >= least && version >= min) return version
    throw new RowSourceError(
      max < least
        ? 'the broker is too old: the first one that is read is Kafka 2.7'
        : 'the broker is too new for this release: it takes none of the requests that are sent here',
    )
  }

  /** Throws `RowSourceError`, and what ended the connection. */
  async request<T>({ api, version, isFlexible, body, read, max_bytes, timeout_ms }: KafkaRequest<T>): Promise<T> {
    if (this.#answer) throw new Error('a connection to a broker has one request at a time')
    this.#throwFault()
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const correlation = ++this.#correlation
    this.#answer = { max_bytes, filled: 0, resolve, reject }
    const head = new WireWriter().int16(api).int16(version).int32(correlation).text(client_name)
    if (isFlexible) head.noTags()
    const frame = head.raw(body).done()
    const timer = setTimeout(() => this.end(noAnswer()), timeout_ms)
    this.#socket.write(new WireWriter().bytes(frame).done())
    try {
      const reader = new WireReader(await promise)
      if (reader.int32() !== correlation) throw new MalformedBytesError('an answer belongs to another request')
      if (isFlexible) reader.tags()
      return read(reader)
    } catch (error) {
      if (error instanceof MalformedBytesError) this.end(error)
      this.#throwFault()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  #throwFault(): void {
    if (this.#fault === undefined) return
    throw this.#fault instanceof Error ? describeKafkaError(this.#fault) : this.#fault
  }

  #take(bytes: Buffer): void {
    for (let left = bytes; left.length > 0; ) {
      const answer = this.#answer
      if (!answer) {
        this.end(notKafka())
        return
      }
      const into = answer.bytes ?? this.#length
      const from = answer.bytes ? answer.filled : this.#length_bytes
      const count = left.copy(into, from)
      left = left.subarray(count)
      if (answer.bytes) answer.filled += count
      else this.#length_bytes += count
      if (from + count < into.length) continue
      if (answer.bytes) this.#finish(answer, answer.bytes)
      else if (!this.#beginAnswer(answer)) return
    }
  }

  #beginAnswer(answer: Answer): boolean {
    this.#length_bytes = 0
    const length = this.#length.readInt32BE()
    const isBounded = length >= 4 && length <= answer.max_bytes
    if (isBounded) answer.bytes = Buffer.allocUnsafe(length)
    else this.end(this.#describeLength(length, answer.max_bytes))
    return isBounded
  }

  /** A server with TLS answers to none by an alert. */
  #describeLength(length: number, max_bytes: number): RowSourceError {
    const isAlert = this.#length[0] === 0x15 && this.#length[1] === 3
    if (isAlert) return new RowSourceError(lost_connection, false)
    const isBatch = max_bytes > usual_answer_bytes && length > max_bytes && length < largest_kafka_bytes
    if (!isBatch) return notKafka()
    return new RowSourceError(
      `a batch of the topic has more than ${max_bytes} bytes, which is more than is read at once`,
    )
  }

  #finish({ resolve }: Answer, bytes: Buffer): void {
    this.#answer = undefined
    resolve(bytes)
  }

  /** At once. The first reason counts. */
  end(reason: unknown): void {
    this.#fault ??= reason
    this.#socket.destroy()
    const answer = this.#answer
    this.#answer = undefined
    answer?.reject(this.#fault)
  }
}

/** Brokers send no more at once: a greater length is the text of another protocol. */
const largest_kafka_bytes = 1_073_741_824

const lost_connection =
  'the broker ended the connection: where it did so at once, it may need TLS (tls) or a user (mechanism) at this port'

async function openSocket(
  access: KafkaAccess,
  { host, port }: BrokerPlace,
  onSocket: (socket: Socket) => void,
): Promise<Socket> {
  const { tls, ca } = access
  const rule: AddressRule = access.rule
  const denial = findLiteralDenial(host, rule)
  if (denial) throw describeKafkaError(denial)
  const at = { host, port, noDelay: true, lookup: checkedLookup(rule, systemResolver) }
  const secure = {
    ...{ minVersion: 'TLSv1.2' as const, rejectUnauthorized: true },
    ...(ca !== undefined && { ca }),
    ...(isIP(host) === 0 && { servername: host }),
  }
  const socket = tls === 'off' ? connect(at) : connectTls({ ...at, ...secure })
  onSocket(socket)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => reject(noAnswer()), connect_timeout_ms)
  socket.once(tls === 'off' ? 'connect' : 'secureConnect', resolve)
  socket.on('error', reject)
  socket.once('close', () => reject(noAnswer()))
  try {
    await promise
    return socket
  } catch (error) {
    socket.destroy()
    throw describeKafkaError(error)
  } finally {
    clearTimeout(timer)
  }
}
