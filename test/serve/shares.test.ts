// Crowds at a listener: each caller, each address and all unidentified callers together have a share, and no more.
import { once } from 'node:events'
import net from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { reportThrottle } from '../../daemon/kernel/telemetry/report-throttle.ts'
import { adminHeaders, type EchoServer, jsonHeaders, startEchoServer } from '../support/echo/echo-server.ts'
import { formatRawRequest } from '../support/http/send-raw-http.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '100' }
const carolHeaders = { authorization: 'Bearer carol.admin' }

let sockets: net.Socket[]
beforeEach(() => {
  sockets = []
})
afterEach(() => {
  for (const socket of sockets) socket.destroy()
})

/** Opens a connection, sends the bytes and leaves it open; collects what comes back. */
async function send({ server }: EchoServer, bytes: string) {
  const socket = net.connect(server.port, '127.0.0.1')
  sockets.push(socket)
  const client = { socket, text: '', isClosed: false }
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    client.text += chunk
  })
  socket
    .on('error', () => undefined)
    .on('close', () => {
      client.isClosed = true
    })
  await once(socket, 'connect')
  if (bytes !== '') socket.write(bytes)
  return client
}

const keepAlive = { connection: 'keep-alive' }
/** The head of a request, and one byte of its body. */
const beginForm = (headers = {}) => formatRawRequest('POST /form', { ...keepAlive, ...form, ...headers }, 'a')
const beginAny = (headers: Record<string, string>) =>
  formatRawRequest('POST /any', { ...keepAlive, ...jsonHeaders, 'content-length': '100', ...headers }, '{')

describe('unidentified callers', () => {
  test('that each send one byte of a body take nothing from identified ones, nor from probes of health', async () => {
    const world = await startEchoServer({ limits: { in_flight: 2, unidentified: 4, unidentified_per_source: 100 } })
    const slow = await Promise.all(Array.from({ length: 40 }, () => send(world, beginForm())))
    await expect.poll(() => slow.filter(({ text }) => text.startsWith('HTTP/1.1 503')).length).toBe(36)
    expect((await world.request('POST /any', { ...adminHeaders, ...jsonHeaders }, '{}')).status).toBe(200)
    expect((await world.request('GET /open')).status).toBe(200)
  })

  test('of one address leave the rest to others', async () => {
    const world = await startEchoServer({ limits: { unidentified: 40, unidentified_per_source: 4 } })
    const slow = await Promise.all(Array.from({ length: 40 }, () => send(world, beginForm())))
    await expect.poll(() => slow.filter(({ text }) => text.startsWith('HTTP/1.1 429')).length).toBe(36)
    expect(slow.find(({ text }) => text !== '')?.text).toContain('retry-after: 1')
  })

  test('get their places back when they leave', async () => {
    const world = await startEchoServer({ limits: { unidentified: 1 } })
    const slow = await send(world, beginForm())
    await expect
      .poll(async () => (await world.request('POST /form', { ...form, 'content-length': '7' }, 'a=1&b=2')).status)
      .toBe(503)
    slow.socket.destroy()
    await expect
      .poll(async () => (await world.request('POST /form', { ...form, 'content-length': '7' }, 'a=1&b=2')).status)
      .toBe(200)
  })

  test('cause one log line for all their refusals', async () => {
    const world = await startEchoServer({ limits: { unidentified: 1 } })
    const all = await Promise.all(Array.from({ length: 20 }, () => send(world, beginForm())))
    await expect.poll(() => all.filter(({ text }) => text !== '').length).toBe(19)
    const refused = world.echo.controls.logged.filter(([, event]) => event === 'http.refused')
    expect(refused).toMatchObject([['warn', 'http.refused', { code: 'unavailable', times: 1 }]])
  })
})

describe('identified callers', () => {
  test('have a share each', async () => {
    const world = await startEchoServer({ limits: { in_flight: 10, in_flight_per_caller: 3 } })
    const own = await Promise.all(Array.from({ length: 8 }, () => send(world, beginAny(adminHeaders))))
    await expect.poll(() => own.filter(({ text }) => text.startsWith('HTTP/1.1 429')).length).toBe(5)
    expect((await world.request('POST /any', { ...carolHeaders, ...jsonHeaders }, '{}')).status).toBe(200)
  })

  test('of one address have a share together', async () => {
    const world = await startEchoServer({ limits: { in_flight: 10, in_flight_per_source: 3 } })
    const callers = Array.from({ length: 8 }, (_, index) => ({ authorization: `Bearer u${index}.admin` }))
    const all = await Promise.all(callers.map((headers) => send(world, beginAny(headers))))
    await expect.poll(() => all.filter(({ text }) => text.startsWith('HTTP/1.1 429')).length).toBe(5)
  })
})

test('callers that leave while their credential is verified take no share with them', async () => {
  const world = await startEchoServer({ limits: { in_flight: 1, unidentified: 1 } })
  const { identity } = world.echo.context
  const verify = identity.verify.bind(identity)
  const gate = Promise.withResolvers<void>()
  Object.assign(identity, {
    verify: async (...credential: Parameters<typeof verify>) => {
      const claims = await verify(...credential)
      await gate.promise
      return claims
    },
  })
  const unknownHeaders = { authorization: 'Bearer nobody' }
  const gone = [
    await send(world, formatRawRequest('POST /any', adminHeaders)),
    await send(world, formatRawRequest('GET /open', unknownHeaders)),
  ]
  await expect.poll(() => world.echo.controls.verified.length).toBe(2)
  for (const { socket } of gone) socket.destroy()
  await expect.poll(async () => (await world.metrics.text()).match(/^http_requests_total.*"aborted"/gm)?.length).toBe(2)
  gate.resolve()
  expect((await world.request('POST /any', adminHeaders)).status).toBe(200)
  expect((await world.request('GET /open', unknownHeaders)).status).toBe(200)
})

describe('a body', () => {
  test('that comes too slowly ends its connection with 408', async () => {
    const world = await startEchoServer({ limits: { body_pace: { grace_ms: 50, bytes_per_s: 1_000_000 } } })
    const slow = await send(world, beginAny(adminHeaders))
    await expect.poll(() => slow.text).toMatch(/^HTTP\/1.1 408 /)
    await expect.poll(() => slow.isClosed).toBe(true)
  })

  test('is not asked for before its sender is admitted', async () => {
    const world = await startEchoServer()
    const expecting = { ...jsonHeaders, ...keepAlive, expect: '100-continue', 'content-length': '2' }
    const unknown = await send(world, formatRawRequest('POST /any', expecting))
    await expect.poll(() => unknown.text).toMatch(/^HTTP\/1.1 401 /)
    const known = await send(world, formatRawRequest('POST /any', { ...expecting, ...adminHeaders }))
    await expect.poll(() => known.text).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\n$/)
    known.socket.write('{}')
    await expect.poll(() => known.text).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /)
  })

  test.each([
    ['of a refused caller', 'POST /any', {}, 401],
    ['at an unknown path', 'POST /nowhere', adminHeaders, 404],
    ['with a method that the path does not have', 'PUT /any', adminHeaders, 405],
    ['that is too large', 'POST /echo/x', adminHeaders, 413],
  ])('%s is answered at once, and its connection ends', async (_what, line, headers, status) => {
    const world = await startEchoServer()
    const announced = { ...keepAlive, ...jsonHeaders, 'content-length': '1000000000', ...headers }
    const client = await send(world, formatRawRequest(line, announced, '{'))
    await expect.poll(() => client.text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(client.text.toLowerCase()).toContain('connection: close')
    await expect.poll(() => client.isClosed, { timeout: 5_000 }).toBe(true)
  })
})

test('the throttle of a listener reports the occurrences that it left out', () => {
  let now = 0
  const throttle = reportThrottle(() => now)
  for (let count = 0; count < 5; count++) throttle('cause')
  now = 60_000
  expect(throttle('cause')).toBe(5)
})
