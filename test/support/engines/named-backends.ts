// Servers that answer every request with the name of their service, and the request as it reached them.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export type NamedBackends = {
  readonly urls: ReadonlyMap<string, readonly string[]>
  close(): void
}

export type BackendAnswer = {
  readonly service: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
}

export type BackendAddress = { readonly host: string; readonly port: number }

/** One server for each name. `place`: where it is, instead of any port of 127.0.0.1. */
export async function startNamedBackends(
  names: readonly string[],
  place: (name: string) => BackendAddress = () => ({ host: '127.0.0.1', port: 0 }),
): Promise<NamedBackends> {
  const servers = names.map((service) =>
    createServer((received, response) => {
      const { url: target = '', headers } = received
      // The answer to a body is its parts, each as it arrives.
      if (headers['transfer-encoding'] !== undefined) received.pipe(response)
      else response.end(JSON.stringify({ service, target, headers }))
    }).on('upgrade', ({ headers }, socket) => {
      socket.end(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: ${headers.upgrade}\r\n\r\n${service}`,
      )
    }),
  )
  await Promise.all(servers.map((server, at) => once(server.listen(place(names[at] ?? '')), 'listening')))
  const urls = servers.map((server) => {
    const { address, port } = server.address() as AddressInfo
    return [`http://${address}:${port}`]
  })
  return {
    urls: new Map(names.map((name, at) => [name, urls[at] ?? []])),
    close() {
      for (const server of servers) server.close().closeAllConnections()
    },
  }
}

/** Sends parts of a body, each after the one before has come back; resolves to what came back. */
export async function exchangeParts(
  port: number,
  target: string,
  parts: readonly string[],
): Promise<readonly string[]> {
  const sent = request({ port, host: '127.0.0.1', path: target, method: 'POST', agent: false })
  const received: string[] = []
  sent.write(parts[0])
  const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer>]
  for await (const part of response) {
    received.push(part.toString())
    const next = parts[received.length]
    if (next === undefined) sent.end()
    else sent.write(next)
  }
  return received
}

export type SentRequest = { readonly target: string; readonly headers: Readonly<Record<string, string>> }
export type ReceivedAnswer = { readonly status: number; readonly type: string; readonly body: string }

/** The target goes out byte by byte as it is. An upgrade is answered with status 101 and what follows the head. */
export function sendRequest(port: number, { target, headers }: SentRequest): Promise<ReceivedAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path: target, headers, setHost: false, agent: false })
    const settle = (status: number, type: string, stream: NodeJS.ReadableStream, first: Buffer) => {
      const parts = [first]
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => resolve({ status, type, body: Buffer.concat(parts).toString() })).on('error', reject)
    }
    sent.on('response', (response) => {
      settle(response.statusCode ?? 0, response.headers['content-type'] ?? '', response, Buffer.alloc(0))
    })
    sent.on('upgrade', (_, socket, head) => settle(101, '', socket, head))
    sent.on('error', reject).end()
  })
}
