// A tool service of a demo: a small HTTP server in the process of the command, on a free port of this machine.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { readBody } from '../../adapters/platform/http-server/read-body.ts'
import { type DemoTool, type DemoToolIssuer, offline } from '../../daemon/offline/offline.ts'

const max_body_bytes = 65_536
const body_pace = { grace_ms: 5_000, bytes_per_s: 1_024 }

export type DemoToolService = {
  readonly url: string
  /** How often its tools were read, by lists and calls. */
  readonly reads: number
  /** Lists this tool instead of that of its name, and reports the change. */
  setTool(tool: DemoTool): void
  stop(): Promise<void>
}

export async function startDemoToolService(
  name: string,
  issuer: DemoToolIssuer,
  first: DemoTool,
): Promise<DemoToolService> {
  const { createDemoToolHandler } = await offline.demoToolHandler()
  const tools = new Map([[first.name, first]])
  let reads = 0
  const handler = createDemoToolHandler(name, issuer, () => {
    reads += 1
    return [...tools.values()]
  })
  const server = createServer((request, response) => {
    // A client that leaves breaks off its own answer, and nothing else.
    exchange(handler.answer, request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get reads() {
      return reads
    },
    setTool(tool) {
      tools.set(tool.name, tool)
      handler.reportChange()
    },
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function exchange(
  answer: (request: Request) => Promise<Response>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request, undefined, max_body_bytes, body_pace)
  if (!Buffer.isBuffer(body)) return void response.writeHead(413, { connection: 'close' }).end()
  const answered = await answer(toWebRequest(request, response, body))
  response.writeHead(answered.status, Object.fromEntries(answered.headers))
  if (!answered.body) return void response.end()
  response.flushHeaders()
  await pipeline(Readable.fromWeb(answered.body as ReadableStream), response)
}

function toWebRequest(
  { method = 'GET', url = '/', headers }: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
): Request {
  const ending = new AbortController()
  response.on('close', () => ending.abort())
  return new Request(new URL(url, 'http://127.0.0.1'), {
    method,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
    signal: ending.signal,
    ...(body.length > 0 ? { body: new Uint8Array(body) } : {}),
  })
}
