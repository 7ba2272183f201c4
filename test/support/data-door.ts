// A listener of the data plane whose requests a test answers, and clients that send exactly the bytes they are given.
import net from 'node:net'
import { expect, vi } from 'vitest'
import { type DataListener, dataListener, type Pem, type Stray } from '../../adapters/forward/http/data-listener.ts'
import type { Exchange } from '../../adapters/forward/http/exchange.ts'
import { defaultInboundLimits, type InboundLimits } from '../../adapters/forward/http/limits.ts'
import { type HandClock, handClock } from './hand-clock.ts'
import { soon } from './upstream-world.ts'

export type Client = {
  readonly socket: net.Socket
  /** All that came, one character a byte. */
  text: string
  isClosed: boolean
  send(bytes: string): void
  /** Waits for this text to have come. */
  hears(text: string | RegExp): Promise<void>
  closes(): Promise<void>
}

export type DataDoor = {
  readonly listener: DataListener
  readonly clock: HandClock
  /** All requests that reached the handler, in order. */
  readonly exchanges: readonly Exchange[]
  readonly strays: readonly Stray[]
  /** Connects and sends. `staysOpen`: it does not close when the other end does. */
  client(bytes?: string, more?: { staysOpen: boolean }): Promise<Client>
  /** Waits for so many requests. */
  reached(count: number): Promise<void>
}

const opened: { close(): unknown }[] = []

export async function closeDoors(): Promise<void> {
  for (const one of opened.splice(0)) await one.close()
}

/** `handle` answers requests; without it they stay as they are. `closeDoors` ends all that was opened. */
export async function dataDoor(
  handle: (exchange: Exchange) => void = () => undefined,
  more: { limits?: Partial<InboundLimits>; tls?: Pem } = {},
): Promise<DataDoor> {
  const clock = handClock()
  const exchanges: Exchange[] = []
  const strays: Stray[] = []
  const listener = await dataListener({
    listen: { host: '127.0.0.1', port: 0 },
    ...(more.tls ? { tls: more.tls } : {}),
    limits: { ...defaultInboundLimits, ...more.limits },
    clock,
    handle(exchange) {
      exchanges.push(exchange)
      handle(exchange)
    },
    onStray: (stray) => void strays.push(stray),
  })
  const close = async () => {
    const closed = listener.close(0)
    clock.advance(0)
    await closed
  }
  opened.push({ close })
  const client = async (bytes?: string, how = { staysOpen: false }) => {
    const at = { port: listener.port, host: '127.0.0.1', allowHalfOpen: how.staysOpen }
    const made = await clientOf(net.connect(at))
    if (bytes !== undefined) made.send(bytes)
    return made
  }
  const reached = (count: number) => vi.waitFor(() => expect(exchanges).toHaveLength(count), soon)
  return { listener, clock, exchanges, strays, client, reached }
}

async function clientOf(socket: net.Socket): Promise<Client> {
  const client: Client = {
    socket,
    text: '',
    isClosed: false,
    send: (bytes) => void socket.write(bytes, 'latin1'),
    hears: (text) => vi.waitFor(() => expect(client.text).toMatch(text), soon),
    closes: () => vi.waitFor(() => expect(client.isClosed).toBe(true), soon),
  }
  socket.setEncoding('latin1')
  socket.on('data', (text: string) => {
    client.text += text
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    client.isClosed = true
  })
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  opened.push({ close: () => socket.destroy() })
  return client
}

export const get = (path = '/', more = ''): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
export const post = (body: string, more = `Content-Length: ${body.length}\r\n`): string =>
  `POST / HTTP/1.1\r\nHost: a\r\n${more}\r\n${body}`
