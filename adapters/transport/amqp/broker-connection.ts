// One connection to a broker: opened on first use, and again after it has ended.
import { readFileSync } from 'node:fs'
import { type ChannelModel, type ConfirmChannel, connect, credentials } from 'amqplib'
import type { BrokerEndpoint } from '../../../daemon/kernel/network/broker.ts'
import { describeBrokerError, withTimeout } from './broker-error.ts'

const connect_timeout_ms = 5_000
const close_timeout_ms = 5_000
/** Time limit of one request to the broker, such as to declare a queue. */
export const reply_timeout_ms = 15_000
/** A broker that is silent for two of these is taken for dead. */
const heartbeat_s = 15
const max_frame_bytes = 131_072

export type BrokerChannel = {
  /** Has publisher confirms. */
  readonly channel: ConfirmChannel
  /** Rejects when the channel has ended, with the reason in words. */
  readonly ended: Promise<never>
}

export type BrokerConnection = {
  /** A channel of its own. Opens the connection when there is none; throws why it cannot. */
  channel(): Promise<BrokerChannel>
  /** Why the broker takes no messages for now, while that is so. */
  blockedBy(): string | undefined
  /** Calls the listener when that begins. Returns a function that removes it. */
  onBlocked(listener: (why: string) => void): () => void
  /** Ends the connection; the next need opens another. */
  close(): Promise<void>
  /** Ends it at once: what has been written and has not left this process never does. */
  cut(): void
}

/**
 * `password` is called at each connection; without one the client certificate names the user. `name`: shown in the
 * broker's list of connections.
 */
export function brokerConnection(
  broker: BrokerEndpoint,
  password: () => string | undefined,
  name: string,
): BrokerConnection {
  let current: Promise<ChannelModel> | undefined
  let blocked: string | undefined
  let trouble: unknown
  const listeners = new Set<(why: string) => void>()
  const forget = (connection = current) => {
    if (current !== connection) return
    current = undefined
    blocked = undefined
  }
  const opened = async (): Promise<ChannelModel> => {
    const connection = await openConnection(broker, password(), name)
    trouble = undefined
    // Without a listener an error would end the process; what follows from it comes with `close`.
    connection.on('error', (error) => {
      trouble = error
    })
    connection.on('blocked', (why) => {
      blocked = why
      for (const listener of listeners) listener(why)
    })
    connection.on('unblocked', () => {
      blocked = undefined
    })
    return connection
  }
  const open = (): Promise<ChannelModel> => {
    if (current) return current
    const fresh = opened()
    current = fresh
    fresh
      .then((connection) =>
        connection.on('close', (error) => {
          trouble ??= error
          forget(fresh)
        }),
      )
      .catch(() => forget(fresh))
    return fresh
  }
  return {
    async channel() {
      const connection = await open()
      const channel = await withTimeout(reply_timeout_ms, 'open a channel', connection.createConfirmChannel())
      return { channel, ended: watchEnd(channel, () => trouble) }
    },
    blockedBy: () => blocked,
    onBlocked(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    cut() {
      const cutting = current
      forget()
      const why = new Error('the broker does not read from the connection')
      cutting?.then(({ connection }) => socketOf(connection).destroy(why)).catch(() => undefined)
    },
    async close() {
      const ending = current?.then((connection) => connection.close())
      forget()
      await withTimeout(close_timeout_ms, 'end the connection', ending ?? Promise.resolve()).catch(() => undefined)
    },
  }
}

/** Socket of amqplib's connection, missing in its types. The connection reports the error of `destroy` as its end. */
type BrokerSocket = { destroy(why: Error): void }

function socketOf(connection: object): BrokerSocket {
  const { stream } = connection as { stream?: BrokerSocket }
  if (!stream) throw new Error('this amqplib does not show its socket')
  return stream
}

/** Channels end before the connection reports its reason. */
function watchEnd(channel: ConfirmChannel, why: () => unknown): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => undefined)
  const end = (error: unknown) =>
    reject(new Error(describeBrokerError(error ?? 'the connection to the broker has ended')))
  channel.on('error', end)
  channel.on('close', () => queueMicrotask(() => end(why())))
  return promise
}

async function openConnection({ url, user, tls }: BrokerEndpoint, password: string | undefined, name: string) {
  const { protocol, hostname, port, pathname } = new URL(url)
  const at = {
    protocol: protocol.slice(0, -1),
    hostname: hostname.replace(/^\[|\]$/g, ''),
    ...(port ? { port: Number(port) } : {}),
    vhost: pathname.slice(1),
    heartbeat: heartbeat_s,
    frameMax: max_frame_bytes,
    maxFrameSize: 2 * max_frame_bytes,
  }
  const opening = connect(at, {
    timeout: connect_timeout_ms,
    noDelay: true,
    credentials: password === undefined ? credentials.external() : credentials.plain(user ?? '', password),
    clientProperties: { connection_name: name },
    ...(protocol === 'amqps:' ? { minVersion: 'TLSv1.2', ...readTlsFiles(tls) } : {}),
  })
  try {
    return await withTimeout(2 * connect_timeout_ms, 'open a connection', opening)
  } catch (error) {
    // A connection that opens after the time limit is closed.
    opening.then((late) => late.close()).catch(() => undefined)
    throw error
  }
}

function readTlsFiles({ ca_file, cert_file, key_file }: BrokerEndpoint['tls']) {
  return {
    ...(ca_file ? { ca: [readPem(ca_file)] } : {}),
    ...(cert_file ? { cert: readPem(cert_file) } : {}),
    ...(key_file ? { key: readPem(key_file) } : {}),
  }
}

function readPem(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch {
    throw new Error(`the file ${file} cannot be read`)
  }
}
