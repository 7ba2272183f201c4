// Clients of one listener that begin something and never end it; each from an address that the honest clients do not have.
import net from 'node:net'
import { formatRawRequest } from '../../support/http/send-raw-http.ts'

export type ListenerAddress = { readonly port: number } | { readonly path: string }

export type ClientCrowd = {
  /** Sockets that the listener has closed. */
  countClosed(): number
  /** What the listener has answered to one of them so far; empty for one that reads nothing. */
  texts(): string[]
  /** Lets those that read nothing read: a socket shows its end behind what it has received. */
  readOn(): void
  leave(): void
}

export type ClientBehaviour = {
  readonly name: string
  /** What it sends before it falls silent. */
  readonly bytes: (token: string) => string
  /** Whether it reads what it is answered. */
  readonly reads?: false
}

const headers = (token: string) => ({ connection: 'keep-alive', authorization: `Bearer ${token}` })
const json = { 'content-type': 'application/json', 'content-length': '1000' }

export const silentBehaviours: readonly ClientBehaviour[] = [
  { name: 'say nothing', bytes: () => '' },
  { name: 'send one byte', bytes: () => 'G' },
  { name: 'stop within the head', bytes: () => 'GET /health HTTP/1.1\r\nhost: a\r\nx: ' },
  {
    name: 'stop before the end of the head',
    bytes: (token) => `GET /health HTTP/1.1\r\nauthorization: Bearer ${token}\r\n`,
  },
  {
    name: 'announce a body without a token',
    bytes: () => formatRawRequest('POST /api/v2/x', { ...json, connection: 'keep-alive' }),
  },
  {
    name: 'stop within the body',
    bytes: (token) => `${formatRawRequest('POST /api/v2/consensus/session', { ...headers(token), ...json })}{`,
  },
  {
    name: 'send chunks without an end',
    bytes: (token) =>
      `${formatRawRequest('POST /api/v2/consensus/session', { ...headers(token), 'content-type': 'application/json', 'transfer-encoding': 'chunked' })}1\r\n{\r\n`,
  },
  {
    name: 'request twenty answers and read none',
    bytes: (token) => formatRawRequest('GET /openapi.json', headers(token)).repeat(20),
    reads: false,
  },
  { name: 'stay after an answer', bytes: () => formatRawRequest('GET /health', { connection: 'keep-alive' }) },
]

export async function gatherCrowd(
  to: ListenerAddress,
  count: number,
  { bytes, reads }: Pick<ClientBehaviour, 'bytes' | 'reads'>,
  token: string,
): Promise<ClientCrowd> {
  const clients = await Promise.all(
    Array.from({ length: count }, (_, at) => connectClient(to, at, bytes(token), reads)),
  )
  return {
    countClosed: () => clients.filter(({ socket }) => socket.closed).length,
    texts: () => clients.map(({ text }) => text),
    readOn: () => {
      for (const { socket } of clients) socket.resume()
    },
    leave: () => {
      for (const { socket } of clients) socket.destroy()
    },
  }
}

type CrowdClient = { readonly socket: net.Socket; text: string }

function connectClient(to: ListenerAddress, at: number, bytes: string, reads = true): Promise<CrowdClient> {
  return new Promise((resolve, reject) => {
    const address = 'port' in to ? { ...to, host: '127.0.0.1', localAddress: `127.0.1.${1 + (at % 200)}` } : to
    const client: CrowdClient = { socket: net.connect(address), text: '' }
    const { socket } = client
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', () => undefined)
      socket.setEncoding('latin1')
      if (reads) socket.on('data', (text: string) => (client.text += text))
      else socket.pause()
      socket.write(bytes, () => resolve(client))
    })
  })
}
