// Server-sent events over a real socket: resume, heartbeat, slow and vanished readers, failures, the end of the service.
import net from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { formatEvent } from '../../adapters/serve/http/event-stream.ts'
import { adminHeaders, type EchoServer, startEchoServer } from '../support/echo/echo-server.ts'
import { formatRawRequest } from '../support/http/send-raw-http.ts'

/** A client of `/stream`; `text` is everything that came so far. */
function openStreamClient({ server }: EchoServer, headers: Record<string, string> = {}, path = '/stream') {
  const socket = net.connect(server.port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  let isClosed = false
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  socket.on('close', () => {
    isClosed = true
  })
  socket.on('error', () => undefined)
  socket.write(formatRawRequest(`GET ${path}`, { connection: 'keep-alive', ...headers }))
  return { socket, text: () => text, isClosed: () => isClosed }
}

const buildLiveEvent = (id: string, event = 'live') => ({ id, event, data: { id } })

describe('events', () => {
  test('arrive as they happen, each with id, name and one line of data', async () => {
    const world = await startEchoServer()
    const client = openStreamClient(world)
    await expect.poll(client.text).toContain('id: 3\nevent: stored\ndata: {"id":3}\n\n')
    expect(client.text()).toContain('content-type: text/event-stream\r\n')
    expect(client.text()).toContain('cache-control: no-store\r\n')
    world.echo.controls.emit(buildLiveEvent('4'))
    await expect.poll(client.text).toContain('id: 4\nevent: live\ndata: {"id":"4"}\n\n')
  })

  test('resume after the last one that the client saw', async () => {
    const client = openStreamClient(await startEchoServer(), { 'last-event-id': '2' })
    await expect.poll(client.text).toContain('id: 3\n')
    expect(client.text()).not.toContain('id: 2\n')
  })

  test('cannot forge each other', () => {
    expect(formatEvent({ id: '1\nevent: forged', event: 'a\r\nid: 9', data: 'x\n\nid: 7' })).toBe(
      'id: 1 event: forged\nevent: a  id: 9\ndata: "x\\n\\nid: 7"\n\n',
    )
  })

  test('end when the operation ends them, and the connection can be used again', async () => {
    const world = await startEchoServer()
    const client = openStreamClient(world)
    await expect.poll(world.echo.controls.streams).toBe(1)
    await expect.poll(client.text).toContain('id: 3\n')
    world.echo.controls.emit(buildLiveEvent('', 'end'))
    await expect.poll(client.text).toMatch(/0\r\n\r\n$/)
    client.socket.write(formatRawRequest('GET /open'))
    await expect.poll(client.text).toContain('{"subject":"anonymous"}')
  })
})

test('a quiet stream beats', async () => {
  const client = openStreamClient(await startEchoServer({ limits: { heartbeat_ms: 20 } }))
  await expect.poll(client.text).toMatch(/(:\n\n\s+\d\s+){3}/)
})

test('a stream outlives the time limit of requests', async () => {
  const world = await startEchoServer({ limits: { request_ms: 40, heartbeat_ms: 30 } })
  const client = openStreamClient(world)
  await expect.poll(client.text).toMatch(/(:\n\n\s+\d\s+){5}/)
  world.echo.controls.emit(buildLiveEvent('4'))
  await expect.poll(client.text).toContain('id: 4\n')
})

test('streams are counted apart from requests, and have a most of their own', async () => {
  const world = await startEchoServer({ limits: { streams: 1, in_flight: 1 } })
  const first = openStreamClient(world)
  await expect.poll(first.text).toContain('id: 3\n')
  expect((await world.request('GET /open')).status).toBe(200)
  expect((await world.request('GET /stream')).status).toBe(503)
})

test('bounds the streams of one caller at once; other callers are let in', async () => {
  const world = await startEchoServer({ limits: { streams_per_caller: 2 } })
  const [first, second] = [openStreamClient(world, adminHeaders), openStreamClient(world, adminHeaders)]
  for (const client of [first, second]) await expect.poll(client.text).toContain('id: 3\n')
  const refused = await world.request('GET /stream', adminHeaders)
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '5' } })
  expect(JSON.parse(refused.body)).toMatchObject({ code: 'rate_limited' })
  const other = openStreamClient(world, { authorization: 'Bearer alicia.admin' })
  await expect.poll(other.text).toContain('id: 3\n')
  expect((await world.request('GET /echo/1', adminHeaders)).status).toBe(200)
  first?.socket.destroy()
  await expect.poll(() => world.echo.controls.signals[0]?.aborted).toBe(true)
  const again = openStreamClient(world, adminHeaders)
  await expect.poll(again.text).toContain('id: 3\n')
})

describe('readers', () => {
  test('a reader that vanishes ends the events', async () => {
    const world = await startEchoServer()
    const client = openStreamClient(world)
    await expect.poll(client.text).toContain('id: 3\n')
    client.socket.destroy()
    await expect.poll(() => world.echo.controls.signals[0]?.aborted).toBe(true)
    world.echo.controls.emit(buildLiveEvent('4'))
    await expect.poll(world.echo.controls.streams).toBe(0)
  })

  test('a slow reader holds the events back, and gets them all when it reads', async () => {
    const world = await startEchoServer()
    const client = openStreamClient(world, {}, '/stream?many=3000')
    client.socket.pause()
    const looks: number[] = []
    const hasStopped = () => {
      looks.push(world.echo.controls.taken)
      return (looks.at(-1) ?? 0) > 0 && looks.at(-1) === looks.at(-2)
    }
    await expect.poll(hasStopped).toBe(true)
    // Of 30 MB, what the buffers of two sockets hold.
    expect(looks.at(-1)).toBeLessThan(2_000)
    client.socket.resume()
    await expect.poll(client.text, { timeout: 30_000 }).toContain('id: m2999\n')
    expect(client.text().match(/id: m\d+\n/g)).toHaveLength(3_000)
  })

  test('cuts off a reader that never reads again', async () => {
    const world = await startEchoServer({ limits: { heartbeat_ms: 50 } })
    const client = openStreamClient(world, {}, '/stream?many=100000')
    client.socket.pause()
    await expect.poll(() => world.echo.controls.signals[0]?.aborted, { timeout: 30_000 }).toBe(true)
    await expect.poll(world.echo.controls.streams).toBe(0)
  })
})

describe('an end that is not the operation’s', () => {
  test('a failure is a last event that says no more than a problem document does', async () => {
    const world = await startEchoServer()
    const client = openStreamClient(world)
    await expect.poll(client.text).toContain('id: 3\n')
    world.echo.controls.emit(buildLiveEvent('', 'fail'))
    await expect.poll(client.text).toMatch(/event: problem\ndata: \{.*"code":"internal".*\}\n\n[\s\S]*0\r\n\r\n$/)
    expect(client.text()).not.toContain('/secret/')
    expect(world.echo.controls.logged.filter(([level]) => level === 'error')).toHaveLength(1)
  })

  test('the end of the service ends the stream, with the time after which to come back', async () => {
    const world = await startEchoServer()
    const client = openStreamClient(world)
    await expect.poll(client.text).toContain('id: 3\n')
    await world.server.close(60_000)
    await expect.poll(client.isClosed).toBe(true)
    expect(client.text()).toMatch(/retry: 2000\n\n\r\n0\r\n\r\n$/)
    expect(client.text()).not.toContain('event: problem')
  })
})
