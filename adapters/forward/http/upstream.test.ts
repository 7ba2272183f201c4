// The client of an upstream, against servers that break off, send too much, send nothing, or are unreachable.
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  closeUpstreamFixtures,
  createRecordingSink,
  createResponder,
  helloResponse,
  helloSinkCalls,
  pollOptions,
  startUpstreamFixture,
} from '../../../test/support/proxy/upstream-fixture.ts'
import type { AddressResolver } from '../../platform/address-rule/checked-lookup.ts'
import { defaultUpstreamLimits } from './limits.ts'

afterEach(closeUpstreamFixtures)

describe('a request', () => {
  test('is sent unchanged, and its response is returned', async () => {
    const { server, send, waitForEnd } = await startUpstreamFixture(createResponder(helloResponse))
    const { calls } = send({ path: '/a?b=%20c', headers: ['host', 'up:80', 'X-A', 'b  c', 'x-a', '\xfc'] })
    await waitForEnd(calls)
    expect(calls).toMatchObject(helloSinkCalls)
    expect(server.connections[0]?.text).toBe('GET /a?b=%20c HTTP/1.1\r\nhost: up:80\r\nX-A: b  c\r\nx-a: \xfc\r\n\r\n')
  })

  test('of POST carries its body and Content-Length, which is zero for an empty body', async () => {
    const { server, send, waitForEnd } = await startUpstreamFixture(createResponder(helloResponse))
    const first = send({ method: 'POST', body: Buffer.from([0, 13, 10, 255]) })
    await waitForEnd(first.calls)
    await waitForEnd(send({ method: 'POST' }).calls)
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
    // In latin1 its lower byte would be sent, a line feed.
    { headers: ['host', 'up\u010aX: 1'] },
    { headers: ['host', 'up', 'x\u010ay', '1'] },
    { headers: ['host', 'up', 'x: y', '1'] },
    { headers: ['host', 'up', 'x y', '1'] },
    { headers: ['host', 'up', '', '1'] },
    { headers: [] },
    { headers: ['host', 'up', 'Host', 'down'] },
    { headers: ['host', 'up', 'Transfer-Encoding', 'chunked'] },
    { headers: ['host', 'up', 'content-length', '3'] },
    { headers: ['host', 'up', 'Connection', 'x-a'] },
    { headers: ['host', 'up', 'upgrade', 'h2c'] },
    { path: '/a#b' },
    { path: '*' },
    { path: 'http://up/a' },
    { method: 'get' },
    { method: 'GET /' },
    { method: '' },
    { method: 'CONNECT' },
    { method: 'TRACE' },
  ])('that servers could read differently fails before it is sent: %j', async (changes) => {
    const { server, send, client, waitForEnd } = await startUpstreamFixture(createResponder(helloResponse))
    const { calls } = send(changes)
    expect(calls.events).toEqual([])
    await waitForEnd(calls)
    expect(calls.events).toEqual(['fail request'])
    expect(client.counts().connections).toBe(0)
    expect(server.connections).toHaveLength(0)
  })
})

describe('a connection', () => {
  test('serves one request after the other', async () => {
    const { server, send, waitForEnd, client } = await startUpstreamFixture(createResponder(helloResponse))
    for (const _ of [1, 2, 3]) {
      const { calls } = send()
      await waitForEnd(calls)
      expect(calls).toMatchObject(helloSinkCalls)
      await vi.waitFor(() => expect(client.counts().idle).toBe(1), pollOptions)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(server.connections).toHaveLength(1)
    expect(server.lines()).toHaveLength(3)
  })

  test('that brings more than the answer is not used again: the rest is never the next answer', async () => {
    const { server, send, waitForEnd, client } = await startUpstreamFixture(
      createResponder(`${helloResponse}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`),
    )
    for (const _ of [1, 2]) {
      const { calls } = send()
      await waitForEnd(calls)
      expect(calls).toMatchObject(helloSinkCalls)
    }
    expect(server.connections).toHaveLength(2)
    expect(client.counts().connections).toBe(0)
  })

  test('is not reused in the same turn: bytes after the response are detected first', async () => {
    const { server, client, waitForEnd } = await startUpstreamFixture(createResponder(helloResponse))
    const second = createRecordingSink()
    const first = createRecordingSink()
    const request = { method: 'GET', path: '/a', headers: ['host', 'up'] } as const
    const end = () => void client.forward(request, second)
    client.forward(request, { ...first, end })
    await waitForEnd(second.calls)
    expect(server.connections).toHaveLength(2)
  })

  test('that receives bytes between two requests is not reused', async () => {
    const { server, send, waitForEnd, client } = await startUpstreamFixture(createResponder(helloResponse))
    await waitForEnd(send().calls)
    server.connections[0]?.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison')
    await vi.waitFor(() => expect(client.counts().connections).toBe(0), pollOptions)
    const { calls } = send()
    await waitForEnd(calls)
    expect(calls).toMatchObject(helloSinkCalls)
    expect(server.connections).toHaveLength(2)
  })

  test.each([
    ['HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello'],
    ['HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello'],
    ['HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 5\r\n\r\nhello'],
  ])('is not kept after %j', async (text) => {
    const { server, send, waitForEnd, client } = await startUpstreamFixture(createResponder(text))
    const { calls } = send()
    await waitForEnd(calls)
    expect(calls.body).toBe('hello')
    expect(client.counts().connections).toBe(0)
    await vi.waitFor(() => expect(server.connections[0]?.isClosed).toBe(true), pollOptions)
  })

  test('is not reused after a response that arrives before the request is fully sent', async () => {
    const { send, waitForEnd, client } = await startUpstreamFixture(({ socket }) => {
      socket.pause()
      socket.write(helloResponse)
    })
    const { calls } = send({ method: 'POST', body: Buffer.alloc(32 << 20) })
    await waitForEnd(calls)
    expect(calls).toMatchObject(helloSinkCalls)
    expect(client.counts().connections).toBe(0)
  })

  test('is closed after the idle limit, or the shorter keep-alive time of the server', async () => {
    const text = 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=3\r\nContent-Length: 5\r\n\r\nhello'
    const { server, send, waitForEnd, client, clock } = await startUpstreamFixture(createResponder(text))
    await waitForEnd(send().calls)
    clock.advance(1_999)
    expect(client.counts().connections).toBe(1)
    clock.advance(1)
    expect(client.counts().connections).toBe(0)
    await vi.waitFor(() => expect(server.connections[0]?.isClosed).toBe(true), pollOptions)
  })

  test('that closed while idle: the request is retried once, on a new connection', async () => {
    // The first request of each connection gets a response; the second finds the connection closed.
    const { server, send, waitForEnd, client } = await startUpstreamFixture(({ socket }, requests) => {
      if (requests === 1) socket.write(helloResponse)
      else socket.destroy()
    })
    await waitForEnd(send().calls)
    await vi.waitFor(() => expect(client.counts().idle).toBe(1), pollOptions)
    await new Promise((resolve) => setImmediate(resolve))
    const { calls } = send({ path: '/again' })
    await waitForEnd(calls)
    expect(calls).toMatchObject(helloSinkCalls)
    expect(server.lines().filter((line) => line === 'GET /again HTTP/1.1')).toHaveLength(2)
    expect(server.connections).toHaveLength(2)
  })

  test.each([
    ['a request that is not idempotent is not repeated', { method: 'POST' } as const, ''],
    ['a request whose response has begun is not repeated', {}, 'HTTP/1.1 2'],
  ])('that closed while idle: %s', async (_, changes, partialResponse) => {
    const { server, send, waitForEnd, client } = await startUpstreamFixture(({ socket }, requests) => {
      if (requests === 1) socket.write(helloResponse)
      else socket.end(partialResponse)
    })
    await waitForEnd(send().calls)
    await vi.waitFor(() => expect(client.counts().idle).toBe(1), pollOptions)
    await new Promise((resolve) => setImmediate(resolve))
    const { calls } = send({ path: '/once', ...changes })
    await waitForEnd(calls)
    expect(calls.events).toEqual(['fail closed'])
    expect(server.lines().filter((line) => line.includes('/once'))).toHaveLength(1)
  })

  test('that closes at each request is tried once', async () => {
    const { server, send, waitForEnd } = await startUpstreamFixture(({ socket }) => socket.destroy())
    const { calls } = send()
    await waitForEnd(calls)
    expect(calls.events).toEqual(['fail closed'])
    expect(server.lines()).toHaveLength(1)
  })
})

describe('a response', () => {
  test('is passed on in pieces; the end of the connection ends a response without a length', async () => {
    const { server, send, waitForEnd } = await startUpstreamFixture(createResponder('HTTP/1.1 200 OK\r\n\r\nfirst,'))
    const { calls } = send()
    await vi.waitFor(() => expect(calls.body).toBe('first,'), pollOptions)
    server.connections[0]?.socket.end('second')
    await waitForEnd(calls)
    expect(calls).toMatchObject({ events: ['head 200  undefined', 'end'], body: 'first,second' })
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
  ])('that breaks off in %s is a failure, never complete', async (_, text, before) => {
    const { send, waitForEnd } = await startUpstreamFixture(({ socket }) => socket.end(text))
    const { calls } = send()
    await waitForEnd(calls)
    expect(calls.events).toEqual([...before, 'fail closed'])
  })

  test.each(['garbage\r\n\r\n', 'SSH-2.0-x\r\n', 'HTTP/1.1 200 OK\nX: 1\n\n'])('that is not HTTP: %j', async (text) => {
    const { send, waitForEnd, client } = await startUpstreamFixture(createResponder(text))
    const { calls } = send()
    await waitForEnd(calls)
    expect(calls.events).toEqual(['fail protocol'])
    expect(client.counts().connections).toBe(0)
  })

  test('waits at the upstream while its reader is paused, and no timeout runs', async () => {
    const piece = 'x'.repeat(1 << 20)
    const { send, waitForEnd, clock } = await startUpstreamFixture(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${16 << 20}\r\n\r\n`)
      for (let at = 0; at < 16; at++) socket.write(piece)
    })
    const { activeRequest, calls } = send()
    calls.isPaused = true
    await vi.waitFor(() => expect(calls.body).not.toBe(''), pollOptions)
    clock.advance(10_000_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect(calls.body.length).toBeLessThan(1 << 17)
    calls.isPaused = false
    activeRequest.resume()
    await waitForEnd(calls)
    expect(calls.events.at(-1)).toBe('end')
    expect(calls.body.length).toBe(16 << 20)
  })

  test('to an aborted request is not read: its connection closes', async () => {
    const { server, send, client } = await startUpstreamFixture(
      createResponder('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhel'),
    )
    const { activeRequest, calls } = send()
    await vi.waitFor(() => expect(calls.body).toBe('hel'), pollOptions)
    activeRequest.abort()
    activeRequest.abort()
    expect(client.counts().connections).toBe(0)
    await vi.waitFor(() => expect(server.connections[0]?.isClosed).toBe(true), pollOptions)
    expect(calls.events).toHaveLength(1)
  })
})

describe('a timeout', () => {
  test.each([
    ['the head does not arrive', '', []],
    ['the head arrives too slowly', 'HTTP/1.1 200 OK\r\nX', []],
    ['only 1xx responses arrive', 'HTTP/1.1 102 Processing\r\n\r\n', []],
  ])('occurs where %s', async (_, text, before) => {
    const { server, send, clock } = await startUpstreamFixture(createResponder(text))
    const { calls } = send()
    await vi.waitFor(() => expect(server.lines()).toHaveLength(1), pollOptions)
    clock.advance(defaultUpstreamLimits.first_byte_ms - 1)
    expect(calls.events).toEqual(before)
    clock.advance(1)
    expect(calls.events).toEqual([...before, 'fail timeout'])
  })

  test('restarts with each read of a body', async () => {
    const { server, send, waitForEnd, clock } = await startUpstreamFixture(
      createResponder('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na'),
    )
    const { calls } = send()
    await vi.waitFor(() => expect(calls.body).toBe('a'), pollOptions)
    clock.advance(defaultUpstreamLimits.idle_ms - 1)
    server.connections[0]?.socket.write('b')
    await vi.waitFor(() => expect(calls.body).toBe('ab'), pollOptions)
    clock.advance(defaultUpstreamLimits.idle_ms - 1)
    expect(calls.events).toHaveLength(1)
    clock.advance(1)
    await waitForEnd(calls)
    expect(calls.events.at(-1)).toBe('fail timeout')
  })

  test('occurs for a connection that is not established', async () => {
    const never: AddressResolver = () => undefined
    const { send, clock, client } = await startUpstreamFixture(createResponder(helloResponse), {
      host: 'up.example',
      resolve: never,
    })
    const { calls } = send()
    clock.advance(defaultUpstreamLimits.connect_ms)
    expect(calls.events).toEqual(['fail connect'])
    expect(client.counts().connections).toBe(0)
  })
})

describe('connections are limited', () => {
  const two = { connections: 2, waiting: 1 }

  test('requests above the limit wait, and requests above the waiting limit are refused', async () => {
    const { server, send, waitForEnd, client } = await startUpstreamFixture(() => undefined, { limits: two })
    const [first, second, third, fourth] = [send(), send(), send({ path: '/third' }), send({ path: '/fourth' })]
    await waitForEnd(fourth.calls)
    expect(fourth.calls.events).toEqual(['fail busy'])
    await vi.waitFor(() => expect(server.lines()).toHaveLength(2), pollOptions)
    expect(client.counts()).toEqual({ connections: 2, idle: 0, waiting: 1 })
    for (const { socket } of server.connections) socket.write(helloResponse)
    await waitForEnd(first.calls)
    await waitForEnd(second.calls)
    await vi.waitFor(() => expect(server.lines()).toContain('GET /third HTTP/1.1'), pollOptions)
    for (const one of server.connections) if (one.text.includes('/third')) one.socket.write(helloResponse)
    await waitForEnd(third.calls)
    expect(third.calls).toMatchObject(helloSinkCalls)
    expect(server.connections).toHaveLength(2)
  })

  test('an aborted request frees its connection, and an aborted waiting request is not sent', async () => {
    const { server, send, client } = await startUpstreamFixture(() => undefined, {
      limits: { connections: 1, waiting: 2 },
    })
    const first = send()
    const second = send({ path: '/second' })
    send({ path: '/third' })
    second.activeRequest.abort()
    await vi.waitFor(() => expect(server.lines()).toHaveLength(1), pollOptions)
    first.activeRequest.abort()
    await vi.waitFor(() => expect(server.lines()).toEqual(['GET /a HTTP/1.1', 'GET /third HTTP/1.1']), pollOptions)
    expect(client.counts()).toEqual({ connections: 1, idle: 0, waiting: 0 })
  })

  test('waiting ends at its limit', async () => {
    const { server, send, clock, client } = await startUpstreamFixture(() => undefined, { limits: { connections: 1 } })
    send()
    await vi.waitFor(() => expect(server.lines()).toHaveLength(1), pollOptions)
    const { calls } = send()
    clock.advance(defaultUpstreamLimits.waiting_ms - 1)
    expect(calls.events).toEqual([])
    clock.advance(1)
    expect(calls.events).toEqual(['fail busy'])
    expect(client.counts().waiting).toBe(0)
  })

  test('after close, active requests complete, and no connection is kept', async () => {
    const { server, send, waitForEnd, client } = await startUpstreamFixture(() => undefined)
    const { calls } = send()
    await vi.waitFor(() => expect(server.lines()).toHaveLength(1), pollOptions)
    client.close()
    server.connections[0]?.socket.write(helloResponse)
    await waitForEnd(calls)
    expect(calls).toMatchObject(helloSinkCalls)
    await vi.waitFor(() => expect(client.counts().connections).toBe(0), pollOptions)
  })
})
