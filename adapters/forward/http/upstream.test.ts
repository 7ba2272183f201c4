// The client of an upstream, against servers that break off, talk too much, say nothing, or are not where they should be.
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  closeUpstreamFixtures,
  createRecordingSink,
  createResponder,
  helloResponse,
  helloSinkCalls,
  pollOptions,
  startUpstreamFixture as world,
} from '../../../test/support/proxy/upstream-fixture.ts'
import type { AddressResolver } from './dial.ts'
import { defaultUpstreamLimits } from './limits.ts'

afterEach(closeUpstreamFixtures)

describe('a request', () => {
  test('goes out as it is given, and its answer comes back', async () => {
    const { server, ask, over } = await world(createResponder(helloResponse))
    const { told } = ask({ path: '/a?b=%20c', headers: ['host', 'up:80', 'X-A', 'b  c', 'x-a', '\xfc'] })
    await over(told)
    expect(told).toMatchObject(helloSinkCalls)
    expect(server.connections[0]?.text).toBe('GET /a?b=%20c HTTP/1.1\r\nhost: up:80\r\nX-A: b  c\r\nx-a: \xfc\r\n\r\n')
  })

  test('of POST carries its bytes and their number, and none is zero', async () => {
    const { server, ask, over } = await world(createResponder(helloResponse))
    const first = ask({ method: 'POST', body: Buffer.from([0, 13, 10, 255]) })
    await over(first.told)
    await over(ask({ method: 'POST' }).told)
    const texts = server.connections.map(({ text }) => text).join('')
    expect(texts).toContain('POST /a HTTP/1.1\r\nhost: up\r\ncontent-length: 4\r\n\r\n\0\r\n\xff')
    expect(texts).toContain('\r\ncontent-length: 0\r\n\r\n')
  })

  test.each([
    { path: '/a b' },
    { path: '/a\r\nX: 1' },
    { path: 'a' },
    { path: '' },
    { path: '/\xe4' },
    { path: '/\0' },
    { headers: ['host', 'up\r\nX: 1'] },
    { headers: ['host', 'up\n'] },
    { headers: ['host', '\0'] },
  ])('that would break its lines is refused before it goes anywhere: %j', async (given) => {
    const { server, ask, client } = await world(createResponder(helloResponse))
    expect(() => ask(given)).toThrow(/bytes that are not allowed/)
    expect(client.counts().connections).toBe(0)
    expect(server.connections).toHaveLength(0)
  })
})

describe('a connection', () => {
  test('serves one request after the other', async () => {
    const { server, ask, over, client } = await world(createResponder(helloResponse))
    for (const _ of [1, 2, 3]) {
      const { told } = ask()
      await over(told)
      expect(told).toMatchObject(helloSinkCalls)
      await vi.waitFor(() => expect(client.counts().idle).toBe(1), pollOptions)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(server.connections).toHaveLength(1)
    expect(server.lines()).toHaveLength(3)
  })

  test('that brings more than the answer is not used again: the rest is never the next answer', async () => {
    const { server, ask, over, client } = await world(
      createResponder(`${helloResponse}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`),
    )
    for (const _ of [1, 2]) {
      const { told } = ask()
      await over(told)
      expect(told).toMatchObject(helloSinkCalls)
    }
    expect(server.connections).toHaveLength(2)
    expect(client.counts().connections).toBe(0)
  })

  test('is not used again in the turn in which it came free: what came behind the answer shows first', async () => {
    const { server, client, over } = await world(createResponder(helloResponse))
    const second = createRecordingSink()
    const first = createRecordingSink()
    const request = { method: 'GET', path: '/a', headers: ['host', 'up'] } as const
    const end = () => void client.forward(request, second)
    client.forward(request, { ...first, end })
    await over(second.told)
    expect(server.connections).toHaveLength(2)
  })

  test('that brings anything between two requests is not used again', async () => {
    const { server, ask, over, client } = await world(createResponder(helloResponse))
    await over(ask().told)
    server.connections[0]?.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison')
    await vi.waitFor(() => expect(client.counts().connections).toBe(0), pollOptions)
    const { told } = ask()
    await over(told)
    expect(told).toMatchObject(helloSinkCalls)
    expect(server.connections).toHaveLength(2)
  })

  test.each([
    ['HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello'],
    ['HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello'],
    ['HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 5\r\n\r\nhello'],
  ])('is not kept after %j', async (text) => {
    const { server, ask, over, client } = await world(createResponder(text))
    const { told } = ask()
    await over(told)
    expect(told.body).toBe('hello')
    expect(client.counts().connections).toBe(0)
    await vi.waitFor(() => expect(server.connections[0]?.isClosed).toBe(true), pollOptions)
  })

  test('is not used again after an answer that came before all of the request had gone out', async () => {
    const { ask, over, client } = await world(({ socket }) => {
      socket.pause()
      socket.write(helloResponse)
    })
    const { told } = ask({ method: 'POST', body: Buffer.alloc(32 << 20) })
    await over(told)
    expect(told).toMatchObject(helloSinkCalls)
    expect(client.counts().connections).toBe(0)
  })

  test('is let go when it was idle for as long as it is kept, or as the other end keeps it', async () => {
    const text = 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=3\r\nContent-Length: 5\r\n\r\nhello'
    const { server, ask, over, client, clock } = await world(createResponder(text))
    await over(ask().told)
    clock.advance(1_999)
    expect(client.counts().connections).toBe(1)
    clock.advance(1)
    expect(client.counts().connections).toBe(0)
    await vi.waitFor(() => expect(server.connections[0]?.isClosed).toBe(true), pollOptions)
  })

  test('that closed meanwhile costs nothing: the request goes again, once, on a new one', async () => {
    // The first of each connection is answered; the second is met by the end of the connection.
    const { server, ask, over, client } = await world(({ socket }, requests) => {
      if (requests === 1) socket.write(helloResponse)
      else socket.destroy()
    })
    await over(ask().told)
    await vi.waitFor(() => expect(client.counts().idle).toBe(1), pollOptions)
    await new Promise((resolve) => setImmediate(resolve))
    const { told } = ask({ path: '/again' })
    await over(told)
    expect(told).toMatchObject(helloSinkCalls)
    expect(server.lines().filter((line) => line === 'GET /again HTTP/1.1')).toHaveLength(2)
    expect(server.connections).toHaveLength(2)
  })

  test.each([
    ['what may have been done is not done twice', { method: 'POST' } as const, ''],
    ['an answer that has begun is not asked for twice', {}, 'HTTP/1.1 2'],
  ])('that closed meanwhile: %s', async (_, given, begun) => {
    const { server, ask, over, client } = await world(({ socket }, requests) => {
      if (requests === 1) socket.write(helloResponse)
      else socket.end(begun)
    })
    await over(ask().told)
    await vi.waitFor(() => expect(client.counts().idle).toBe(1), pollOptions)
    await new Promise((resolve) => setImmediate(resolve))
    const { told } = ask({ path: '/once', ...given })
    await over(told)
    expect(told.events).toEqual(['fail closed'])
    expect(server.lines().filter((line) => line.includes('/once'))).toHaveLength(1)
  })

  test('that closes each request is tried once, not for ever', async () => {
    const { server, ask, over } = await world(({ socket }) => socket.destroy())
    const { told } = ask()
    await over(told)
    expect(told.events).toEqual(['fail closed'])
    expect(server.lines()).toHaveLength(1)
  })
})

describe('an answer', () => {
  test('is told piece by piece, and the end of the connection ends one without a length', async () => {
    const { server, ask, over } = await world(createResponder('HTTP/1.1 200 OK\r\n\r\nfirst,'))
    const { told } = ask()
    await vi.waitFor(() => expect(told.body).toBe('first,'), pollOptions)
    server.connections[0]?.socket.end('second')
    await over(told)
    expect(told).toMatchObject({ events: ['head 200  undefined', 'end'], body: 'first,second' })
  })

  test.each([
    ['the head', 'HTTP/1.1 200 OK\r\nContent-', []],
    ['the body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel', ['head 200 Content-Length|5 5']],
    [
      'a chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel',
      ['head 200 Transfer-Encoding|chunked undefined'],
    ],
    [
      'the last chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n',
      ['head 200 Transfer-Encoding|chunked undefined'],
    ],
  ])('that breaks off in %s is a failure, never an end', async (_, text, before) => {
    const { ask, over } = await world(({ socket }) => socket.end(text))
    const { told } = ask()
    await over(told)
    expect(told.events).toEqual([...before, 'fail closed'])
  })

  test.each(['garbage\r\n\r\n', 'SSH-2.0-x\r\n', 'HTTP/1.1 200 OK\nX: 1\n\n'])('that is none: %j', async (text) => {
    const { ask, over, client } = await world(createResponder(text))
    const { told } = ask()
    await over(told)
    expect(told.events).toEqual(['fail protocol'])
    expect(client.counts().connections).toBe(0)
  })

  test('waits at the upstream while its reader is busy, and no time runs for it', async () => {
    const piece = 'x'.repeat(1 << 20)
    const { ask, over, clock } = await world(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${16 << 20}\r\n\r\n`)
      for (let at = 0; at < 16; at++) socket.write(piece)
    })
    const { flight, told } = ask()
    told.isPaused = true
    await vi.waitFor(() => expect(told.body).not.toBe(''), pollOptions)
    clock.advance(10_000_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect(told.body.length).toBeLessThan(1 << 17)
    told.isPaused = false
    flight.resume()
    await over(told)
    expect(told.events.at(-1)).toBe('end')
    expect(told.body.length).toBe(16 << 20)
  })

  test('to nobody is not read on: the connection goes with it', async () => {
    const { server, ask, client } = await world(createResponder('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhel'))
    const { flight, told } = ask()
    await vi.waitFor(() => expect(told.body).toBe('hel'), pollOptions)
    flight.abort()
    flight.abort()
    expect(client.counts().connections).toBe(0)
    await vi.waitFor(() => expect(server.connections[0]?.isClosed).toBe(true), pollOptions)
    expect(told.events).toHaveLength(1)
  })
})

describe('time', () => {
  test.each([
    ['the head does not come', '', []],
    ['the head comes too slowly', 'HTTP/1.1 200 OK\r\nX', []],
    ['only answers of 1xx come', 'HTTP/1.1 102 Processing\r\n\r\n', []],
  ])('runs out where %s', async (_, text, before) => {
    const { server, ask, clock } = await world(createResponder(text))
    const { told } = ask()
    await vi.waitFor(() => expect(server.lines()).toHaveLength(1), pollOptions)
    clock.advance(defaultUpstreamLimits.first_byte_ms - 1)
    expect(told.events).toEqual(before)
    clock.advance(1)
    expect(told.events).toEqual([...before, 'fail timeout'])
  })

  test('begins anew with each read of a body', async () => {
    const { server, ask, over, clock } = await world(createResponder('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na'))
    const { told } = ask()
    await vi.waitFor(() => expect(told.body).toBe('a'), pollOptions)
    clock.advance(defaultUpstreamLimits.idle_ms - 1)
    server.connections[0]?.socket.write('b')
    await vi.waitFor(() => expect(told.body).toBe('ab'), pollOptions)
    clock.advance(defaultUpstreamLimits.idle_ms - 1)
    expect(told.events).toHaveLength(1)
    clock.advance(1)
    await over(told)
    expect(told.events.at(-1)).toBe('fail timeout')
  })

  test('runs out for a connection that does not come about', async () => {
    const never: AddressResolver = () => undefined
    const { ask, clock, client } = await world(createResponder(helloResponse), { host: 'up.example', resolve: never })
    const { told } = ask()
    clock.advance(defaultUpstreamLimits.connect_ms)
    expect(told.events).toEqual(['fail connect'])
    expect(client.counts().connections).toBe(0)
  })
})

describe('connections are counted', () => {
  const two = { connections: 2, waiting: 1 }

  test('requests beyond wait their turn, and those beyond these are refused', async () => {
    const { server, ask, over, client } = await world(() => undefined, { limits: two })
    const [first, second, third, fourth] = [ask(), ask(), ask({ path: '/third' }), ask({ path: '/fourth' })]
    await over(fourth.told)
    expect(fourth.told.events).toEqual(['fail busy'])
    await vi.waitFor(() => expect(server.lines()).toHaveLength(2), pollOptions)
    expect(client.counts()).toEqual({ connections: 2, idle: 0, waiting: 1 })
    for (const { socket } of server.connections) socket.write(helloResponse)
    await over(first.told)
    await over(second.told)
    await vi.waitFor(() => expect(server.lines()).toContain('GET /third HTTP/1.1'), pollOptions)
    for (const one of server.connections) if (one.text.includes('/third')) one.socket.write(helloResponse)
    await over(third.told)
    expect(third.told).toMatchObject(helloSinkCalls)
    expect(server.connections).toHaveLength(2)
  })

  test('one that is given up makes room, and whoever gave up waiting is not served', async () => {
    const { server, ask, client } = await world(() => undefined, { limits: { connections: 1, waiting: 2 } })
    const first = ask()
    const second = ask({ path: '/second' })
    ask({ path: '/third' })
    second.flight.abort()
    await vi.waitFor(() => expect(server.lines()).toHaveLength(1), pollOptions)
    first.flight.abort()
    await vi.waitFor(() => expect(server.lines()).toEqual(['GET /a HTTP/1.1', 'GET /third HTTP/1.1']), pollOptions)
    expect(client.counts()).toEqual({ connections: 1, idle: 0, waiting: 0 })
  })

  test('waiting has an end', async () => {
    const { server, ask, clock, client } = await world(() => undefined, { limits: { connections: 1 } })
    ask()
    await vi.waitFor(() => expect(server.lines()).toHaveLength(1), pollOptions)
    const { told } = ask()
    clock.advance(defaultUpstreamLimits.waiting_ms - 1)
    expect(told.events).toEqual([])
    clock.advance(1)
    expect(told.events).toEqual(['fail busy'])
    expect(client.counts().waiting).toBe(0)
  })

  test('after the end, what is under way goes on, and nothing is kept', async () => {
    const { server, ask, over, client } = await world(() => undefined)
    const { told } = ask()
    await vi.waitFor(() => expect(server.lines()).toHaveLength(1), pollOptions)
    client.close()
    server.connections[0]?.socket.write(helloResponse)
    await over(told)
    expect(told).toMatchObject(helloSinkCalls)
    await vi.waitFor(() => expect(client.counts().connections).toBe(0), pollOptions)
  })
})
