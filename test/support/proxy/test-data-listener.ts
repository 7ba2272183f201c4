// A listener of the data plane whose requests a test answers, and clients that send exactly the bytes of the test.
import net from 'node:net'
import { expect, vi } from 'vitest'
import { type ConnectionFault, type DataListener, dataListener } from '../../../adapters/forward/http/data-listener.ts'
import { defaultInboundLimits, type Http2Limits, type InboundLimits } from '../../../adapters/forward/http/limits.ts'
import type { ListenerTls } from '../../../adapters/platform/http-server/listener-tls.ts'
import type { Exchange } from '../../../daemon/kernel/forward/exchange.ts'
import { type ManualCoarseClock, manualCoarseClock } from '../clock/manual-coarse-clock.ts'
import { pollOptions } from './upstream-fixture.ts'

export type RawClient = {
  readonly socket: net.Socket
  /** All received bytes, one character a byte. */
  text: string
  isClosed: boolean
  send(bytes: string): void
  /** Waits until this text has been received. */
  waitFor(text: string | RegExp): Promise<void>
  waitForClose(): Promise<void>
}

export type TestDataListener = {
  readonly listener: DataListener
  readonly clock: ManualCoarseClock
  /** All requests that reached the handler, in order. */
  readonly exchanges: readonly Exchange[]
  readonly unrouted: readonly ConnectionFault[]
  /** Connects and sends. `staysOpen`: the client stays open when the server closes. */
  client(bytes?: string, more?: { staysOpen: boolean }): Promise<RawClient>
  /** Waits for this number of requests. */
  waitForRequests(count: number): Promise<void>
}

const openResources: { close(): unknown }[] = []

export async function closeDataListeners(): Promise<void> {
  for (const one of openResources.splice(0)) await one.close()
}

/** `handle` answers requests; without it they stay open. `closeDataListeners` ends all that was opened. */
export async function startDataListener(
  handle: (exchange: Exchange) => void = () => undefined,
  more: { limits?: Partial<InboundLimits>; tls?: ListenerTls; http2?: Http2Limits } = {},
): Promise<TestDataListener> {
  const clock = manualCoarseClock()
  const exchanges: Exchange[] = []
  const faults: ConnectionFault[] = []
  const listener = await dataListener({
    listen: { host: '127.0.0.1', port: 0 },
    ...(more.tls ? { tls: more.tls } : {}),
    ...(more.http2 ? { http2: more.http2 } : {}),
    limits: { ...defaultInboundLimits, ...more.limits },
    clock,
    handle(exchange) {
      exchanges.push(exchange)
      handle(exchange)
    },
    onConnectionFault: (fault) => void faults.push(fault),
  })
  const close = async () => {
    const closed = listener.close(0)
    clock.advance(0)
    await closed
  }
  openResources.push({ close })
  const client = async (bytes?: string, how = { staysOpen: false }) => {
    const client = await createRawClient(listener.port, how)
    openResources.push({ close: () => client.socket.destroy() })
    if (bytes !== undefined) client.send(bytes)
    return client
  }
  const waitForRequests = (count: number) => vi.waitFor(() => expect(exchanges).toHaveLength(count), pollOptions)
  return { listener, clock, exchanges, unrouted: faults, client, waitForRequests }
}

/** `staysOpen`: the client stays open when the server closes. */
export async function createRawClient(port: number, { staysOpen } = { staysOpen: false }): Promise<RawClient> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: staysOpen })
  const client: RawClient = {
    socket,
    text: '',
    isClosed: false,
    send: (bytes) => void socket.write(bytes, 'latin1'),
    waitFor: (text) => vi.waitFor(() => expect(client.text).toMatch(text), pollOptions),
    waitForClose: () => vi.waitFor(() => expect(client.isClosed).toBe(true), pollOptions),
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
  return client
}

export const formatGet = (path = '/', more = ''): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
export const formatPost = (body: string, more = `Content-Length: ${body.length}\r\n`): string =>
  `POST / HTTP/1.1\r\nHost: a\r\n${more}\r\n${body}`
