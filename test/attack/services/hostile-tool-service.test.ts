// A tool service that attacks its client: size, depth, number, streams without end, redirects, requests, false messages.
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import { followTools, type ToolListing } from '../../../daemon/kernel/tools/follow-tools.ts'

const limits = { answer_ms: 2_000, answer_bytes: 100_000, depth: 32, tools: 50 }
const services = mcpToolServices({ about: { name: 'test', version: '1' }, limits })

let server: http.Server | undefined
afterEach(async () => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
})

type Message = { readonly id?: number; readonly method: string }
type Reply = (message: Message, response: http.ServerResponse, request: http.IncomingMessage) => void

const info = { name: 'hostile', version: '1' }
const capabilities = { tools: { listChanged: true } }
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })
const pages = (response: http.ServerResponse, id: unknown, result: unknown) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }))

/** A session of 2025-11-25 that opens as it should; `reply` answers what follows. */
async function serve(reply: Reply) {
  const seen: Message[] = []
  server = http.createServer(async (request, response) => {
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
    const message = (body === '' ? { method: request.method } : JSON.parse(body)) as Message
    seen.push(message)
    if (message.method === 'server/discover') response.writeHead(400).end()
    else if (message.method === 'initialize')
      pages(response, message.id, { protocolVersion: '2025-11-25', capabilities, serverInfo: info })
    else if (message.method === 'notifications/initialized') response.writeHead(202).end()
    else reply(message, response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  return { seen, address: { url, token: async () => 'token' } }
}

const stream = (response: http.ServerResponse, text: string) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
const event = (message: unknown) => `data: ${JSON.stringify(message)}\n\n`

test.each<[string, Reply, RegExp]>([
  [
    'an answer without end',
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = () => void (response.destroyed || response.write('['.repeat(10_000), () => setImmediate(more)))
      more()
    },
    /larger than 100000 bytes/,
  ],
  [
    'a deep answer',
    ({ id }, response) => pages(response, id, JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`)),
    /within 32 levels/,
  ],
  [
    'a name with two meanings',
    ({ id }, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[],"tools":[]}}`),
    /not JSON/,
  ],
  [
    'a member that changes prototypes',
    ({ id }, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[],"__proto__":{}}}`),
    /not JSON/,
  ],
  [
    'more tools than are taken',
    ({ id }, response) => pages(response, id, { tools: Array.from({ length: 51 }, (_, at) => tool(`t${at}`)) }),
    /more than the 50 tools/,
  ],
  [
    'pages without end',
    ({ id }, response) => pages(response, id, { tools: [], nextCursor: 'again' }),
    /more than 64 pages/,
  ],
  ['a name of controls', ({ id }, response) => pages(response, id, { tools: [tool('a\u001b[2J')] }), /tools\.0\.name/],
  ['no tools at all', ({ id }, response) => pages(response, id, { nothing: true }), /./],
  [
    'a redirect',
    (_, response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    /redirects \(307\)/,
  ],
  ['a page of a login', (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'), /./],
  [
    'a stream without end',
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = () =>
        void (response.destroyed || response.write(`: ${'x'.repeat(10_000)}\n\n`, () => setImmediate(more)))
      more()
    },
    /./,
  ],
  ['a stream of what is no JSON', (_, response) => void stream(response, 'data: {\n\n'), /./],
  [
    'a stream that ends before its answer',
    (_, response) => void stream(response, event({ jsonrpc: '2.0', method: 'notifications/message', params: {} })),
    /./,
  ],
  ['silence', () => undefined, /did not answer within 2000 ms/],
])(
  '%s is a refusal, in bounded time',
  async (_, reply, words) => {
    const { address } = await serve(reply)
    const connection = await services.connect(address)
    const failure = await connection.listTools().catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'Refusal', message: expect.stringMatching(words) })
    expect(['unavailable', 'timeout', 'not_found']).toContain((failure as { code: string }).code)
    await connection.close()
  },
  20_000,
)

test('requests of a service are not answered, and its answer counts', async () => {
  const { address, seen } = await serve(({ id, method }, response) => {
    if (method !== 'tools/list') return void response.writeHead(202).end()
    const requests = ['ping', 'sampling/createMessage', 'elicitation/create', 'roots/list'].flatMap((name) =>
      Array.from({ length: 50 }, (_, at) => event({ jsonrpc: '2.0', id: `${name}${at}`, method: name, params: {} })),
    )
    stream(response, `${requests.join('')}${event({ jsonrpc: '2.0', id, result: { tools: [tool('one')] } })}`)
  })
  const connection = await services.connect(address)
  expect(await connection.listTools()).toMatchObject([{ name: 'one' }])
  expect(seen.filter(({ method }) => method === undefined)).toEqual([])
  await connection.close()
})

test('the words of a service are cut short', async () => {
  const { address } = await serve(({ id }, response) => {
    const error = { code: -32_602, message: 'x'.repeat(50_000) }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, error }))
  })
  const connection = await services.connect(address)
  const failure = await connection
    .callTool({ name: 'a', input: {}, timeout_ms: 2_000 })
    .catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'invalid' })
  expect((failure as Error).message.length).toBeLessThan(500)
  await connection.close()
})

test('a service that ends every stream at once is called less and less often', async () => {
  const { address } = await serve(({ id, method }, response) => {
    if (method === 'tools/list') return void pages(response, id, { tools: [tool('one')] })
    if (method === 'GET') return void stream(response, 'retry: 0\n\n')
    response.writeHead(202).end()
  })
  const ending = new AbortController()
  const waits: number[] = []
  let now_ms = 0
  const listings: ToolListing[] = []
  const following = {
    signal: ending.signal,
    pause: async (wait_ms: number) => {
      waits.push(wait_ms)
      now_ms += wait_ms
      if (waits.length === 8) ending.abort()
    },
    now: () => now_ms,
    chance: () => 1,
  }
  for await (const listing of followTools(services, address, following)) listings.push(listing)
  expect(listings).toMatchObject([{ tools: [{ name: 'one' }] }])
  expect(waits).toEqual([1_500, 2_500, 4_500, 8_500, 16_500, 32_500, 60_500, 60_500])
}, 20_000)
