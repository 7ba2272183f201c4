// Server-sent events over a real socket: resume, heartbeat, slow and vanished readers, failures, the end of the service.
import net from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { frame } from '../../adapters/serve/http/event-stream.ts'
import { request } from '../support/raw-http.ts'
import { admin, type Served, served } from '../support/served.ts'

/** A client of `/stream`; `text` is everything that came so far. */
function listen({ server }: Served, headers: Record<string, string> = {}, path = '/stream') {
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
  socket.write(request(`GET ${path}`, { connection: 'keep-alive', ...headers }))
  return { socket, text: () => text, isClosed: () => isClosed }
}

const live = (id: string, event = 'live') => ({ id, event, data: { id } })

describe('events', () => {
  test('arrive as they happen, each with id, name and one line of data', async () => {
    const world = await served()
    const client = listen(world)
    await expect.poll(client.text).toContain('id: 3\nevent: stored\ndata: {"id":3}\n\n')
    expect(client.text()).toContain('content-type: text/event-stream\r\n')
    expect(client.text()).toContain('cache-control: no-store\r\n')
    world.echo.handle.emit(live('4'))
    await expect.poll(client.text).toContain('id: 4\nevent: live\ndata: {"id":"4"}\n\n')
  })

  test('resume after the last one that the client saw', async () => {
    const client = listen(await served(), { 'last-event-id': '2' })
    await expect.poll(client.text).toContain('id: 3\n')
    expect(client.text()).not.toContain('id: 2\n')
  })

  test('cannot forge each other', () => {
    expect(frame({ id: '1\nevent: forged', event: 'a\r\nid: 9', data: 'x\n\nid: 7' })).toBe(
      'id: 1 event: forged\nevent: a  id: 9\ndata: "x\\n\\nid: 7"\n\n',
    )
  })

  test('end when the operation ends them, and the connection can be used again', async () => {
    const world = await served()
    const client = listen(world)
    await expect.poll(world.echo.handle.streams).toBe(1)
    await expect.poll(client.text).toContain('id: 3\n')
    world.echo.handle.emit(live('', 'end'))
    await expect.poll(client.text).toMatch(/0\r\n\r\n$/)
    client.socket.write(request('GET /open'))
    await expect.poll(client.text).toContain('{"subject":"anonymous"}')
  })
})

test('a quiet stream beats', async () => {
  const client = listen(await served({ limits: { heartbeat_ms: 20 } }))
  await expect.poll(client.text).toMatch(/(:\n\n\s+\d\s+){3}/)
})

test('a stream outlives the time limit of requests', async () => {
  const world = await served({ limits: { request_ms: 40, heartbeat_ms: 30 } })
  const client = listen(world)
  await expect.poll(client.text).toMatch(/(:\n\n\s+\d\s+){5}/)
  world.echo.handle.emit(live('4'))
  await expect.poll(client.text).toContain('id: 4\n')
})

test('streams are counted apart from requests, and have a most of their own', async () => {
  const world = await served({ limits: { streams: 1, in_flight: 1 } })
  const first = listen(world)
  await expect.poll(first.text).toContain('id: 3\n')
  expect((await world.ask('GET /open')).status).toBe(200)
  expect((await world.ask('GET /stream')).status).toBe(503)
})

test('one caller has so many streams at once and no more; whoever else comes is let in', async () => {
  const world = await served({ limits: { streams_per_caller: 2 } })
  const [first, second] = [listen(world, admin), listen(world, admin)]
  for (const client of [first, second]) await expect.poll(client.text).toContain('id: 3\n')
  const refused = await world.ask('GET /stream', admin)
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '5' } })
  expect(JSON.parse(refused.body)).toMatchObject({ code: 'rate_limited' })
  const other = listen(world, { authorization: 'Bearer alicia.admin' })
  await expect.poll(other.text).toContain('id: 3\n')
  expect((await world.ask('GET /echo/1', admin)).status).toBe(200)
  first?.socket.destroy()
  await expect.poll(() => world.echo.handle.signals[0]?.aborted).toBe(true)
  const again = listen(world, admin)
  await expect.poll(again.text).toContain('id: 3\n')
})

describe('readers', () => {
  test('who vanish end the events', async () => {
    const world = await served()
    const client = listen(world)
    await expect.poll(client.text).toContain('id: 3\n')
    client.socket.destroy()
    await expect.poll(() => world.echo.handle.signals[0]?.aborted).toBe(true)
    world.echo.handle.emit(live('4'))
    await expect.poll(world.echo.handle.streams).toBe(0)
  })

  test('who do not read hold the events back, and get them all when they do', async () => {
    const world = await served()
    const client = listen(world, {}, '/stream?many=3000')
    client.socket.pause()
    await expect.poll(() => world.echo.handle.signals.length).toBe(1)
    const before = process.memoryUsage().arrayBuffers
    client.socket.resume()
    await expect.poll(client.text, { timeout: 30_000 }).toContain('id: m2999\n')
    expect(client.text().match(/id: m\d+\n/g)).toHaveLength(3_000)
    expect(before).toBeLessThan(100_000_000)
  })

  test('who never read again are cut off', async () => {
    const world = await served({ limits: { heartbeat_ms: 50 } })
    const client = listen(world, {}, '/stream?many=100000')
    client.socket.pause()
    await expect.poll(() => world.echo.handle.signals[0]?.aborted, { timeout: 30_000 }).toBe(true)
    await expect.poll(world.echo.handle.streams).toBe(0)
  })
})

describe('an end that is not the operation’s', () => {
  test('a failure is a last event that says no more than a problem document does', async () => {
    const world = await served()
    const client = listen(world)
    await expect.poll(client.text).toContain('id: 3\n')
    world.echo.handle.emit(live('', 'fail'))
    await expect.poll(client.text).toMatch(/event: problem\ndata: \{.*"code":"internal".*\}\n\n[\s\S]*0\r\n\r\n$/)
    expect(client.text()).not.toContain('/secret/')
    expect(world.echo.handle.logged.filter(([level]) => level === 'error')).toHaveLength(1)
  })

  test('the end of the service ends the stream, with the time after which to come back', async () => {
    const world = await served()
    const client = listen(world)
    await expect.poll(client.text).toContain('id: 3\n')
    await world.server.close(60_000)
    await expect.poll(client.isClosed).toBe(true)
    expect(client.text()).toMatch(/retry: 2000\n\n\r\n0\r\n\r\n$/)
    expect(client.text()).not.toContain('event: problem')
  })
})
