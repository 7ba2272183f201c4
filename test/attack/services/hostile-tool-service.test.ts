// A tool service that attacks its client: size, depth, number, streams without end, redirects, requests, false messages.
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import type { AddressResolver } from '../../../adapters/platform/address-rule/checked-lookup.ts'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import type { Refusal } from '../../../daemon/kernel/error/errors.ts'
import { followTools, type ToolListing } from '../../../daemon/kernel/tools/follow-tools.ts'

const limits = { answer_ms: 2_000, answer_bytes: 100_000, depth: 32, tools: 50 }
const rule = addressRule(['127.0.0.0/8'])
const services = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule })

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

/** A session of 2025-11-25 that opens as it should, but for the `steps` of its opening; `reply` answers what follows. */
async function serve(reply: Reply, steps: Readonly<Record<string, Reply>> = {}) {
  const seen: Message[] = []
  const opening: Readonly<Record<string, Reply>> = {
    'server/discover': (_, response) => void response.writeHead(400).end(),
    initialize: ({ id }, response) =>
      pages(response, id, { protocolVersion: '2025-11-25', capabilities, serverInfo: info }),
    'notifications/initialized': (_, response) => void response.writeHead(202).end(),
    ...steps,
  }
  server = http.createServer(async (request, response) => {
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
    const message = (body === '' ? { method: request.method } : JSON.parse(body)) as Message
    seen.push(message)
    const answer = opening[message.method] ?? reply
    answer(message, response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  return { seen, address: { url, token: async () => 'token' } }
}

/** The revision without sessions; `reply` answers all but the first request. */
async function serveWithoutSessions(reply: Reply) {
  const supported = { supportedVersions: ['2026-07-28'], capabilities, serverInfo: info }
  const discovery = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...supported }
  return await serve(reply, { 'server/discover': ({ id }, response) => pages(response, id, discovery) })
}

const eventStream = { 'content-type': 'text/event-stream' }
const stream = (response: http.ServerResponse, text: string) => response.writeHead(200, eventStream).end(text)
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

test('calls whose answer is a stream without end end with their time limit, as such', async () => {
  const { address } = await serve((_, response) => {
    response.writeHead(200, eventStream)
    const drip = setInterval(() => response.write(': more\n\n'), 5)
    response.once('close', () => clearInterval(drip))
  })
  const connection = await services.connect(address)
  const call = () =>
    connection
      .callTool({ name: 'a', input: {}, timeout_ms: 300 })
      .catch(({ code, message }: Refusal) => [code, message])
  const failures = await Promise.all(Array.from({ length: 12 }, call))
  for (const failure of failures)
    expect(failure).toEqual(['timeout', expect.stringMatching(/did not answer within 300 ms/)])
  await connection.close()
})

test.each<[string, Reply]>([
  ['JSON', ({ id }, response) => pages(response, id, { resultType: 'input_required', content: [] })],
  [
    'a stream',
    ({ id }, response) =>
      void stream(response, event({ jsonrpc: '2.0', id, result: { resultType: 'input_required', content: [] } })),
  ],
])('a result that is not complete is none: as %s', async (_, reply) => {
  const { address } = await serve((message, response, request) =>
    message.method === 'tools/call' ? reply(message, response, request) : accept(response),
  )
  const connection = await services.connect(address)
  const failure = await connection
    .callTool({ name: 'a', input: {}, timeout_ms: 2_000 })
    .catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'unavailable', message: expect.stringContaining('resultType') })
  await connection.close()
})

test('a service that requires another scope forbids the call', async () => {
  const { address } = await serve(({ method }, response) => {
    if (method === 'tools/call')
      response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="more"' }).end()
    else accept(response)
  })
  const connection = await services.connect(address)
  const failure = await connection
    .callTool({ name: 'a', input: {}, timeout_ms: 2_000 })
    .catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'forbidden', message: expect.stringContaining('requires a scope') })
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

const forever = new AbortController().signal
const accept = (response: http.ServerResponse) => void response.writeHead(202).end()

test.each<[string, Reply, RegExp]>([
  ['refused', (_, response) => void response.writeHead(500).end(), /answered 500/],
  ['not accepted', (_, response) => void response.writeHead(401).end(), /answered 401/],
  ['closed', (_, response) => void response.destroy(), /cannot be reached or broke off/],
  ['answered with JSON', (_, response) => void pages(response, 1, {}), /answered 200/],
  ['redirected', (_, response) => void response.writeHead(302, { location: '/' }).end(), /redirects \(302\)/],
  ['never answered', () => undefined, /nothing within 2000 ms/],
  [
    'broken off',
    (_, response) => void response.writeHead(200, eventStream).write(':\n\n', () => response.destroy()),
    /broke off/,
  ],
  ['no JSON', (_, response) => void stream(response, 'data: {\n\n'), /not JSON/],
])(
  'a wait for changes ends with the cause when the stream of a session is %s',
  async (_, reply, words) => {
    const { address } = await serve((message, response, request) =>
      message.method === 'GET' ? reply(message, response, request) : accept(response),
    )
    const connection = await services.connect(address)
    const waiting = async () => {
      while ((await connection.waitForChange(forever)) === 'changed');
    }
    await expect(waiting()).rejects.toMatchObject({ name: 'Refusal', message: expect.stringMatching(words) })
    await connection.close()
  },
  20_000,
)

test('a service whose sessions have no stream reports no changes', async () => {
  const { address } = await serve((_, response) => void response.writeHead(405).end())
  const connection = await services.connect(address)
  expect(await connection.waitForChange(forever)).toBe('unsupported')
  await connection.close()
})

test('a wait ends with the cause when the library never requests the stream of a session', async () => {
  const { address, seen } = await serve((_, response) => accept(response), {
    'notifications/initialized': (_, response) => void response.writeHead(200).end(),
  })
  const connection = await services.connect(address)
  await expect(connection.waitForChange(forever)).rejects.toMatchObject({ message: /nothing within 2000 ms/ })
  expect(seen.map(({ method }) => method)).not.toContain('GET')
  await connection.close()
}, 20_000)

test('one report is one change, and the end of the stream comes after it', async () => {
  let open: http.ServerResponse | undefined
  const { address } = await serve(({ method }, response) => {
    if (method !== 'GET') return accept(response)
    open = response.writeHead(200, eventStream)
    open.flushHeaders()
  })
  const connection = await services.connect(address)
  expect(await connection.waitForChange(forever), 'the reports begin').toBe('changed')
  open?.write(event({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }))
  expect(await connection.waitForChange(forever)).toBe('changed')
  open?.end()
  expect(await connection.waitForChange(forever)).toBe('ended')
  await connection.close()
})

test('a subscription that promises nothing reports no changes', async () => {
  const { address } = await serveWithoutSessions(({ id }, response) => {
    const _meta = { 'io.modelcontextprotocol/subscriptionId': id }
    response.writeHead(200, eventStream)
    const params = { _meta, notifications: {} }
    response.write(event({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params }))
  })
  const connection = await services.connect(address)
  expect(await connection.waitForChange(forever)).toBe('unsupported')
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
    wait: async (wait_ms: number) => {
      waits.push(wait_ms)
      now_ms += wait_ms
      if (waits.length === 8) ending.abort()
    },
    monotonic: () => now_ms,
    random: () => 'ffffffffffff',
  }
  for await (const listing of followTools(services, address, following)) listings.push(listing)
  expect(listings).toMatchObject([{ tools: [{ name: 'one' }] }])
  expect(waits).toEqual([1_500, 2_500, 4_500, 8_500, 16_500, 32_500, 60_500, 60_500])
}, 20_000)

describe('an address that a stranger names', () => {
  const strictly = (resolve?: AddressResolver) =>
    mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule: addressRule([]), resolve })
  const refusal = { code: 'forbidden', message: /has an address that is not dialled/ }
  const connectTo = (url: URL, resolve?: AddressResolver) =>
    strictly(resolve).connect({ url, token: async () => 'token' })

  test.each(['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:7f00:1]', 'localhost', '169.254.169.254', '[fe80::1]'])(
    'is not dialled: %s',
    async (host) => {
      const { address, seen } = await serve(() => undefined)
      await expect(connectTo(new URL(`http://${host}:${address.url.port}/mcp`))).rejects.toMatchObject(refusal)
      expect(seen).toEqual([])
    },
  )

  test('is not in the refusal: what a name resolves to inside is the site’s own affair', async () => {
    const resolve: AddressResolver = (_, done) => done(null, [{ address: '10.20.30.40', family: 4 }])
    const refused = await connectTo(new URL('http://payroll.example/mcp'), resolve).catch((error: Error) => error)
    expect(refused).toMatchObject(refusal)
    expect((refused as Error).message).not.toContain('10.20')
  })

  test('is refused at the connection that finds it, when a name changes its address in a session', async () => {
    const answers = ['127.0.0.1', '127.0.0.1', '127.0.0.1']
    const resolve: AddressResolver = (_, done) =>
      done(null, [{ address: answers.shift() ?? '169.254.169.254', family: 4 }])
    const { address, seen } = await serve((message, response) => {
      response.setHeader('connection', 'close')
      pages(response, message.id, { tools: [tool('one')] })
    })
    const rebinding = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule, resolve })
    const url = new URL(`http://rebind.example:${address.url.port}/mcp`)
    const connection = await rebinding.connect({ ...address, url })
    const lists = async () =>
      await connection.listTools().then(
        () => 'listed',
        ({ code }: { code: string }) => code,
      )
    const outcomes = [await lists(), await lists(), await lists(), await lists()]
    await connection.close()
    expect(outcomes).toContain('forbidden')
    expect(outcomes.at(-1)).toBe('forbidden')
    expect(seen.filter(({ method }) => method === 'tools/list')).toHaveLength(outcomes.indexOf('forbidden'))
  })
})
