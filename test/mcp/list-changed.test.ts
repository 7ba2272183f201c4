// Notifications of changed tools: to those whose own list changed, in streams that no caller has more of than its share.
import net from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AddressedOperation } from '../../daemon/kernel/operation/operation.ts'
import { sendExactRequest } from '../support/http/send-exact-request.ts'
import { formatRawRequest } from '../support/http/send-raw-http.ts'
import { openMcpSession, postMcp, requestMeta, sendMcpRequest, statelessRevision } from '../support/mcp/mcp-client.ts'
import { serveTools } from '../support/mcp/serve-tools.ts'

type Tools = readonly AddressedOperation[]

const token = 'alice.admin'
const changed = 'notifications/tools/list_changed'
const withoutTool = (name: string) => (tools: Tools) => tools.filter(({ operation }) => operation.tool !== name)
const withTitle = (name: string, summary: string) => (tools: Tools) =>
  tools.map((target) =>
    target.operation.tool === name ? { ...target, operation: { ...target.operation, summary } } : target,
  )

/** A client whose socket the test holds; `text` is everything that came so far. */
function openRawClient(port: number, request: string) {
  const socket = net.connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const state = { text: '', isClosed: false }
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    state.text += chunk
  })
  socket
    .on('error', () => undefined)
    .on('close', () => {
      state.isClosed = true
    })
  socket.write(request)
  const text = () => state.text
  return {
    socket,
    text,
    isClosed: () => state.isClosed,
    status: () => Number(/^HTTP\/1\.1 (\d+)/.exec(state.text)?.[1]),
    isEnded: () => state.text.endsWith('0\r\n\r\n'),
    notifications: () => state.text.split(changed).length - 1,
  }
}

const listenHeaders = {
  host: '127.0.0.1',
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
  connection: 'keep-alive',
}

function subscribe(port: number, as = token, notifications: unknown = { toolsListChanged: true }, id = 'sub-1') {
  const params = { notifications, _meta: requestMeta }
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params })
  const own = { 'mcp-protocol-version': statelessRevision, 'mcp-method': 'subscriptions/listen' }
  const headers = { ...listenHeaders, ...own, authorization: `Bearer ${as}` }
  return openRawClient(port, formatRawRequest('POST /agentspace', headers, body))
}

function openSessionStream(port: number, headers: Record<string, string>, as = token) {
  const own = { ...listenHeaders, accept: 'text/event-stream', authorization: `Bearer ${as}` }
  return openRawClient(port, formatRawRequest('GET /agentspace', { ...own, ...headers }))
}

function exposeGarbageCollection(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

const openSession = async (port: number, as = token) => (await openMcpSession(port, as)).headers

/** A stream of each kind of revision, opened and at rest. */
async function openBoth(port: number, as = token) {
  const subscription = subscribe(port, as)
  await expect.poll(subscription.text).toContain('notifications/subscriptions/acknowledged')
  const stream = openSessionStream(port, await openSession(port, as), as)
  await expect.poll(stream.status).toBe(200)
  return [subscription, stream] as const
}

describe('a change of the tools', () => {
  test('is announced in each revision', async () => {
    const { port } = await serveTools()
    const { answer } = await openMcpSession(port, token)
    const capabilities = { tools: { listChanged: true } }
    expect(answer.json).toMatchObject({ result: { capabilities } })
    const { json } = await sendMcpRequest(port, 'server/discover', {}, { token })
    expect(json).toMatchObject({ result: { capabilities } })
  })

  test('is reported to both kinds of stream, and the list read then has it', async () => {
    const { port, changeTools } = await serveTools()
    const clients = await openBoth(port)
    changeTools(withoutTool('write'))
    for (const client of clients) await expect.poll(client.notifications, { timeout: 10_000 }).toBe(1)
    const { text } = await sendMcpRequest(port, 'tools/list', {}, { token })
    expect(text).not.toContain('"name":"write"')
    expect(clients[0].text()).toContain('"io.modelcontextprotocol/subscriptionId":"sub-1"')
  })

  test('of a tool that the caller may not use is not reported to it', async () => {
    const { port, changeTools } = await serveTools()
    const strangers = await openBoth(port, 'bob.none')
    const [witness] = await openBoth(port)
    changeTools(withTitle('write', 'Hidden words'))
    await expect.poll(witness.notifications, { timeout: 10_000 }).toBe(1)
    changeTools(withTitle('open', 'Words for everybody'))
    for (const stranger of strangers) await expect.poll(stranger.notifications, { timeout: 10_000 }).toBe(1)
  })

  test('of the permissions of a token is reported to its holder', async () => {
    const { port, echo } = await serveTools()
    const clients = await openBoth(port, 'bob.none')
    const { identity } = echo.context
    const { verify } = identity
    Object.assign(identity, {
      verify: async (bearer = '') => await verify(bearer === 'bob.none' ? 'bob.admin' : bearer),
    })
    for (const client of clients) await expect.poll(client.notifications, { timeout: 10_000 }).toBe(1)
  })

  test('between the list of a session and its stream is reported as soon as the stream is open', async () => {
    const { port, changeTools } = await serveTools()
    const headers = await openSession(port)
    await postMcp(port, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { token, headers })
    changeTools(withoutTool('write'))
    await expect.poll(openSessionStream(port, headers).notifications).toBe(1)
  })

  test('between the acknowledgement of a subscription and the first look at the list is reported', async () => {
    const { port, echo, changeTools } = await serveTools()
    const { identity } = echo.context
    const { verify } = identity
    const gate = Promise.withResolvers<void>()
    let verified = 0
    // The first is its admission, the second that of the acknowledgement.
    const verifyLate = async (bearer = '') => {
      verified += 1
      if (verified > 2) await gate.promise
      return await verify(bearer)
    }
    Object.assign(identity, { verify: verifyLate })
    const client = subscribe(port)
    await expect.poll(client.text).toContain('notifications/subscriptions/acknowledged')
    await expect.poll(() => verified).toBeGreaterThan(2)
    changeTools(withoutTool('write'))
    gate.resolve()
    await expect.poll(client.notifications).toBe(1)
  })

  test('that comes in floods is reported at most once a second, and the last one is not lost', async () => {
    const { port, changeTools } = await serveTools()
    const clients = await openBoth(port)
    const began_ms = performance.now()
    for (let at = 0; at < 5_000; at += 1) {
      changeTools(withTitle('write', `Words ${at}`))
      if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await expect.poll(() => clients.every(({ notifications }) => notifications() > 0), { timeout: 10_000 }).toBe(true)
    changeTools(withTitle('write', 'Last words'))
    const before = clients.map(({ notifications }) => notifications())
    for (const [at, client] of clients.entries())
      await expect.poll(client.notifications, { timeout: 10_000 }).toBeGreaterThan((before[at] ?? 0) - 1)
    const most = 2 + (performance.now() - began_ms) / 1_000
    for (const client of clients) expect(client.notifications()).toBeLessThanOrEqual(most)
  })
})

describe('a listener', () => {
  test('of either kind is counted as one stream of its caller, and as no request', async () => {
    const { port } = await serveTools({ streams_per_caller: 2, in_flight_per_caller: 1, in_flight: 2 })
    await openBoth(port)
    const subscription = subscribe(port)
    await expect.poll(subscription.status).toBe(429)
    expect(subscription.text()).toContain('streams open')
    const stream = openSessionStream(port, await openSession(port))
    await expect.poll(stream.status).toBe(429)
    expect((await sendMcpRequest(port, 'tools/list', {}, { token })).status).toBe(200)
    await openBoth(port, 'carol.admin')
  })

  test('gives its share back when it goes, of whichever kind', async () => {
    const { port } = await serveTools({ streams_per_caller: 2 })
    for (let round = 0; round < 5; round += 1) {
      const clients = await openBoth(port)
      for (const { socket } of clients) socket.destroy()
      await expect
        .poll(async () => {
          const probe = subscribe(port)
          await expect.poll(probe.status).toBeGreaterThan(0)
          const status = probe.status()
          probe.socket.destroy()
          return status
        })
        .toBe(200)
      await expect.poll(async () => (await freeStreams(port)) === 2).toBe(true)
    }
  })

  test('that sends no more is ended, and holds no share', async () => {
    const { port } = await serveTools({ streams_per_caller: 2 })
    const clients = await openBoth(port)
    for (const { socket } of clients) socket.end()
    for (const client of clients) await expect.poll(client.isClosed).toBe(true)
    await expect.poll(async () => await freeStreams(port)).toBe(2)
  })

  test('leaves no share behind when it goes before its stream begins', async () => {
    const { port } = await serveTools({ streams_per_caller: 2 })
    for (let round = 0; round < 50; round += 1) {
      const client = subscribe(port)
      await new Promise<void>((resolve) => client.socket.once('connect', () => resolve()))
      if (round % 2) await new Promise((resolve) => setImmediate(resolve))
      client.socket.destroy()
    }
    await expect.poll(async () => await freeStreams(port)).toBe(2)
  })

  test('keeps nothing of the message that opened it in memory', async () => {
    const { port } = await serveTools()
    const collectGarbage = exposeGarbageCollection()
    const held_bytes = () => {
      collectGarbage()
      const { arrayBuffers, heapUsed } = process.memoryUsage()
      return arrayBuffers + heapUsed
    }
    const before = held_bytes()
    for (let at = 0; at < 24; at += 1) {
      const { text } = subscribe(port, token, { toolsListChanged: true, padding: 'x'.repeat(900_000) })
      await expect.poll(text).toContain('notifications/subscriptions/acknowledged')
    }
    await expect.poll(() => held_bytes() - before).toBeLessThan(12_000_000)
  })

  test('takes no id that would fill the memory', async () => {
    const { port } = await serveTools()
    const client = subscribe(port, token, { toolsListChanged: true }, 'x'.repeat(257))
    await expect.poll(client.status).toBe(400)
    expect(client.text()).toContain('the id of a subscription has 257 characters; at most 256 are allowed')
  })

  test('outlives the time limit of requests', async () => {
    const { port, changeTools } = await serveTools({ request_ms: 100, heartbeat_ms: 50 })
    const clients = await openBoth(port)
    for (const client of clients) await expect.poll(() => client.text().split(':\n\n').length).toBeGreaterThan(6)
    changeTools(withoutTool('write'))
    for (const client of clients) await expect.poll(client.notifications, { timeout: 10_000 }).toBe(1)
  })

  test('whose token is revoked or expires is ended, however quiet', async () => {
    const { port, echo } = await serveTools()
    const clients = await openBoth(port)
    Object.assign(echo.context.identity, { verify: async () => undefined })
    for (const client of clients) await expect.poll(client.isEnded, { timeout: 10_000 }).toBe(true)
    for (const client of clients) expect(client.notifications()).toBe(0)
  })

  test('is ended when the service stops, with the time after which to come back', async () => {
    const { port, server } = await serveTools()
    const clients = await openBoth(port)
    await server.close(60_000)
    for (const client of clients) await expect.poll(client.isClosed).toBe(true)
    for (const client of clients) expect(client.text()).toMatch(/retry: 2000\n\n\r\n0\r\n\r\n$/)
  })

  test('that opens the stream of its session again ends the one before: only the last is notified', async () => {
    const { port, changeTools } = await serveTools()
    const headers = await openSession(port)
    const [first, second] = [openSessionStream(port, headers), openSessionStream(port, headers)]
    await expect.poll(() => [first, second].filter(({ isEnded }) => isEnded()).length).toBe(1)
    const left = first.isEnded() ? second : first
    changeTools(withoutTool('write'))
    await expect.poll(left.notifications, { timeout: 10_000 }).toBe(1)
  })

  test('loses its stream with its session', async () => {
    const { port } = await serveTools()
    const headers = await openSession(port)
    const stream = openSessionStream(port, headers)
    await expect.poll(stream.status).toBe(200)
    const json = { 'content-type': 'application/json' }
    await sendExactRequest({ port, method: 'DELETE', path: '/agentspace', token, headers: { ...headers, ...json } })
    await expect.poll(stream.isEnded).toBe(true)
  })

  test.each<[string, Record<string, string> | undefined, number]>([
    ['without a session', {}, 405],
    ['of an unknown session', { 'mcp-session-id': 'f'.repeat(64) }, 404],
    ['of another caller’s session', undefined, 404],
  ])('%s has no stream', async (_, headers, status) => {
    const { port } = await serveTools()
    const stream = openSessionStream(port, headers ?? (await openSession(port, 'carol.admin')))
    await expect.poll(stream.status).toBe(status)
  })

  test('that accepts no stream, or wants the head alone, has none', async () => {
    const { port } = await serveTools()
    const headers = await openSession(port)
    const first = openSessionStream(port, headers)
    await expect.poll(first.status).toBe(200)
    await expect.poll(openSessionStream(port, { ...headers, accept: 'application/json' }).status).toBe(406)
    expect((await sendExactRequest({ port, method: 'HEAD', path: '/agentspace', token, headers })).status).toBe(405)
    expect(first.isEnded()).toBe(false)
  })

  test.each<[string, unknown]>([
    ['nothing', {}],
    ['what this service does not report', { promptsListChanged: true, resourcesListChanged: true }],
  ])('to %s has its answer at once, and no share', async (_, notifications) => {
    const { port } = await serveTools({ streams_per_caller: 1 })
    const [stream] = [subscribe(port)]
    await expect.poll(stream.text).toContain('acknowledged')
    const client = subscribe(port, token, notifications)
    await expect.poll(client.status).toBe(200)
    await expect.poll(client.text).toContain('"resultType":"complete"')
  })

  test.each<[string, unknown]>([
    ['a filter that is none', 'everything'],
    ['a filter of null', null],
  ])('with %s is refused by the protocol', async (_, notifications) => {
    const { port } = await serveTools()
    const client = subscribe(port, token, notifications)
    await expect.poll(client.text).toContain('-32602')
  })
})

/** How many streams the caller can open now; those that it opened for this are closed again. */
async function freeStreams(port: number): Promise<number> {
  const clients = Array.from({ length: 4 }, () => subscribe(port))
  for (const client of clients) await expect.poll(client.status).toBeGreaterThan(0)
  const free = clients.filter(({ status }) => status() === 200).length
  for (const { socket } of clients) socket.destroy()
  return free
}
