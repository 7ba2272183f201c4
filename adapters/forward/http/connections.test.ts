// Client connections: slow and abusive clients, early closes, limits, and the close of the listener.

import net from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { BodyResult, Exchange } from '../../../daemon/kernel/forward/exchange.ts'
import {
  closeDataListeners,
  formatGet,
  formatPost,
  startDataListener,
} from '../../../test/support/proxy/test-data-listener.ts'
import { pollOptions } from '../../../test/support/proxy/upstream-fixture.ts'
import { defaultInboundLimits, type InboundLimits } from './limits.ts'

afterEach(closeDataListeners)

const replyOk = (exchange: Exchange) => exchange.reply(200, ['X-Path', exchange.target], Buffer.from('ok'))
const lastExchange = (exchanges: readonly Exchange[]) => exchanges.at(-1) as Exchange
const waitFor = (check: () => void) => vi.waitFor(check, pollOptions)

describe('a response', () => {
  test('has a length, its own fields, and one date', async () => {
    const server = await startDataListener((exchange) =>
      exchange.reply(201, ['X-A', '1', 'x-a', '2', 'Date', 'then'], Buffer.from('é')),
    )
    const client = await server.client(formatGet())
    await client.waitFor(/\r\n\r\n.+$/)
    expect(client.text.toLowerCase()).toBe(
      'http/1.1 201 created\r\nx-a: 1\r\nx-a: 2\r\ndate: then\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\n\xe3\xa9',
    )
  })

  test('that is small is sent in one write', async () => {
    const writes: number[] = []
    const server = await startDataListener(replyOk)
    const client = await server.client()
    client.socket.on('data', (text) => void writes.push(text.length))
    client.send(formatGet())
    await client.waitFor('ok')
    expect(writes).toHaveLength(1)
  })

  test.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ])('to %s with %i has no body, and the next response is separate', async (method, status) => {
    const server = await startDataListener((exchange) =>
      exchange.target === '/' ? exchange.reply(status, [], Buffer.from('hidden')) : replyOk(exchange),
    )
    const client = await server.client(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n${formatGet('/next')}`)
    await client.waitFor('/next')
    expect(client.text).not.toContain('hidden')
    expect(client.text.includes('Content-Length: 6')).toBe(method === 'HEAD')
  })

  test('that streams is framed by chunks, or for HTTP/1.0 by the end of the connection', async () => {
    const server = await startDataListener((exchange) => {
      exchange.begin(200, [], undefined)
      exchange.write(Buffer.from('one,'))
      exchange.end('two')
    })
    const modern = await server.client(formatGet())
    await modern.waitFor(/transfer-encoding: chunked[\s\S]*4\r\none,\r\n3\r\ntwo\r\n0\r\n\r\n$/i)
    const old = await server.client('GET / HTTP/1.0\r\n\r\n')
    await old.waitForClose()
    expect(old.text).toMatch(/\r\n\r\none,two$/)
  })

  test('that is large is not complete until a slow client has read it', async () => {
    const body = Buffer.alloc(32 << 20, 'x')
    const server = await startDataListener((exchange) => exchange.reply(200, [], body))
    const client = await server.client()
    client.socket.pause()
    client.send(formatGet())
    await server.waitForRequests(1)
    expect(lastExchange(server.exchanges).isOver).toBe(false)
    client.socket.resume()
    await waitFor(() => expect(client.text.length).toBeGreaterThan(body.length))
    expect(client.text.slice(client.text.indexOf('\r\n\r\n') + 4)).toHaveLength(body.length)
    expect(lastExchange(server.exchanges).isOver).toBe(true)
  })

  test('that cannot be completed is cut off, so that no client accepts a part as the whole', async () => {
    const server = await startDataListener((exchange) => {
      exchange.begin(200, [], undefined)
      exchange.write(Buffer.from('part'))
    })
    const client = await server.client(formatGet())
    await client.waitFor('part')
    lastExchange(server.exchanges).cut()
    await client.waitForClose()
    expect(client.text).not.toMatch(/0\r\n\r\n$/)
  })

  test('to a client that has left is dropped without an error', async () => {
    const gone: string[] = []
    const server = await startDataListener((exchange) => {
      exchange.answering = { gone: () => void gone.push(exchange.target), drained: () => undefined }
    })
    const client = await server.client(formatGet('/left'))
    await server.waitForRequests(1)
    client.socket.destroy()
    await waitFor(() => expect(gone).toEqual(['/left']))
    const exchange = lastExchange(server.exchanges)
    exchange.reply(200, [], Buffer.from('ok'))
    exchange.begin(200, [], 2)
    exchange.end('ok')
    exchange.cut()
    expect(gone).toHaveLength(1)
    expect(server.listener.counts()).toEqual({ connections: 0, busy: 0 })
  })
})

describe('pipelined requests', () => {
  test('are handled in order, one at a time', async () => {
    const server = await startDataListener()
    const client = await server.client(formatGet('/1') + formatGet('/2') + formatGet('/3'))
    for (const at of [1, 2, 3]) {
      await server.waitForRequests(at)
      expect(lastExchange(server.exchanges).target).toBe(`/${at}`)
      replyOk(lastExchange(server.exchanges))
    }
    await client.waitFor(/\/1[\s\S]*\/2[\s\S]*\/3/)
  })

  test('are dropped when an earlier response ends the connection', async () => {
    const server = await startDataListener((exchange) => exchange.reply(413, []))
    const client = await server.client(
      `${formatPost('', 'Content-Length: 50\r\n')}${formatGet('/hidden')}${'x'.repeat(50)}${formatGet('/hidden')}`,
    )
    await client.waitFor('413')
    client.socket.end()
    await client.waitForClose()
    expect(server.exchanges).toHaveLength(1)
    expect(client.text.match(/HTTP\/1\.1/g)).toHaveLength(1)
  })

  test('are limited in number', async () => {
    const server = await startDataListener(undefined, { limits: { pipelined: 2 } })
    const client = await server.client(formatGet().repeat(3))
    await server.waitForRequests(1)
    expect(client.isClosed).toBe(false)
    client.send(formatGet())
    await client.waitForClose()
    expect(server.exchanges).toHaveLength(1)
  })

  test.each(['at once', 'later'])('wait while the client does not read a response that is sent %s', async (when) => {
    const replyLarge = (exchange: Exchange) => {
      exchange.begin(200, [], undefined)
      exchange.write(Buffer.alloc(32 << 20, 'x'))
      exchange.end()
    }
    const server = await startDataListener((exchange) => {
      if (exchange.target === '/') replyOk(exchange)
      else if (when === 'at once') replyLarge(exchange)
    })
    const client = await server.client()
    client.socket.pause()
    client.send(formatGet('/large').repeat(2))
    await server.waitForRequests(1)
    if (when === 'later') replyLarge(lastExchange(server.exchanges))
    // The response to another client shows that there was time to serve the next request.
    await (await server.client(formatGet())).waitFor('ok')
    expect(server.exchanges.map(({ target }) => target)).toEqual(['/large', '/'])
    client.socket.resume()
    await server.waitForRequests(3)
  })
})

describe('a slow client', () => {
  test.each([
    ['sends nothing', ''],
    ['sends half a line', 'GET / HT'],
    ['sends half a head', 'GET / HTTP/1.1\r\nHost: a\r\n'],
  ])('that %s gets 408 and is closed', async (_, text) => {
    const server = await startDataListener(replyOk, { limits: { headers_ms: 50, request_ms: 100 } })
    const client = await server.client(text)
    await client.waitForClose()
    expect(client.text).toBe('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    expect(server.unrouted).toEqual(['too_slow'])
  })

  const collectBodies = () => {
    const bodies: BodyResult[] = []
    const handle = (exchange: Exchange) =>
      exchange.readBody(10_000, (body) => {
        bodies.push(body)
        exchange.reply(typeof body === 'string' ? 408 : 200, [])
      })
    return { bodies, handle }
  }
  const { grace_ms, body_rate, answer_grace_ms, idle_ms, stall_ms, linger_ms } = defaultInboundLimits

  test('whose body is below the minimum rate is refused, long before the request timeout', async () => {
    const { bodies, handle } = collectBodies()
    const server = await startDataListener(handle)
    const client = await server.client(formatPost('', 'Content-Length: 10000\r\n'), { staysOpen: true })
    await server.waitForRequests(1)
    server.clock.advance(grace_ms - 1)
    expect(bodies).toEqual([])
    server.clock.advance(1)
    expect(bodies).toEqual(['too_slow'])
    await client.waitFor(/^HTTP\/1\.1 408 /)
    // The listener waits for the client to close, for a limited time.
    server.clock.advance(linger_ms - 1)
    expect(server.listener.counts().connections).toBe(1)
    server.clock.advance(1)
    await waitFor(() => expect(server.listener.counts().connections).toBe(0))
  })

  test('whose body meets the minimum rate is read to its end', async () => {
    const { bodies, handle } = collectBodies()
    const server = await startDataListener(handle)
    const enough = Math.ceil((body_rate * grace_ms) / 1_000)
    const client = await server.client(formatPost('', `Content-Length: ${enough + 1}\r\n`))
    await server.waitForRequests(1)
    client.send('x'.repeat(enough))
    // The response to another client shows that the earlier bytes were read.
    const other = await server.client(formatPost('x', 'Content-Length: 1\r\n'))
    await other.waitFor('200')
    server.clock.advance(grace_ms)
    expect(bodies).toHaveLength(1)
    client.send('x')
    await client.waitFor('200')
  })

  test('whose body exceeds the request timeout gets the same response', async () => {
    const { bodies, handle } = collectBodies()
    const server = await startDataListener(handle, { limits: { headers_ms: 50, request_ms: 100 } })
    const client = await server.client(formatPost('', 'Content-Length: 10000\r\n'))
    await client.waitFor(/^HTTP\/1\.1 408 /)
    expect(bodies).toEqual(['too_slow'])
    expect(client.text.match(/HTTP\/1\.1/g)).toHaveLength(1)
  })

  /** A client of a response larger than the socket buffers; it reads only as much as the test takes. */
  const startLargeResponse = async (limits: Partial<InboundLimits>) => {
    const gone: string[] = []
    const replyLarge = (exchange: Exchange) => {
      exchange.answering = { gone: () => void gone.push(exchange.target), drained: () => undefined }
      exchange.reply(200, [], Buffer.alloc(64 << 20, 'x'))
    }
    const server = await startDataListener(replyLarge, { limits })
    const { socket, send } = await server.client()
    socket.pause()
    send(formatGet('/large'))
    await server.waitForRequests(1)
    const take = (bytes: number) =>
      new Promise<void>((resolve) => {
        let taken = 0
        socket.on('data', (text: string) => {
          taken += text.length
          if (taken < bytes) return
          socket.removeAllListeners('data').pause()
          resolve()
        })
        socket.resume()
      })
    return { ...server, gone, take }
  }

  test('that reads no bytes of its response is closed; without a minimum rate, one that reads some is not', async () => {
    const { clock, gone, take, unrouted } = await startLargeResponse({ answer_rate: 0 })
    clock.advance(1)
    clock.advance(stall_ms - 1)
    await take(32 << 20)
    clock.advance(1)
    expect(gone).toEqual([])
    clock.advance(stall_ms)
    await waitFor(() => expect(gone).toEqual(['/large']))
    expect(unrouted).toEqual([])
  })

  test('that reads below the minimum rate is closed and counted, even if it reads at times', async () => {
    const { clock, gone, take, unrouted } = await startLargeResponse({ answer_rate: 1 << 20, stall_ms: 1_000_000 })
    clock.advance(1)
    clock.advance(answer_grace_ms)
    await take(32 << 20)
    // The rate requires 15 MiB by now, and 64 MiB at the end, which is more than the rest of the response.
    clock.advance(15_000)
    expect([gone, unrouted]).toEqual([[], []])
    clock.advance(50_000)
    expect(unrouted).toEqual(['slow_reader'])
    await waitFor(() => expect(gone).toEqual(['/large']))
  })

  test('that sends no further request is closed, while one that waits for its response is not', async () => {
    const server = await startDataListener((exchange) => exchange.target === '/' && replyOk(exchange))
    const idle = await server.client(formatGet())
    const busy = await server.client(formatGet('/later'))
    await idle.waitFor('ok')
    await server.waitForRequests(2)
    server.clock.advance(1)
    server.clock.advance(idle_ms - 1)
    expect(server.listener.counts()).toEqual({ connections: 2, busy: 1 })
    server.clock.advance(1)
    await idle.waitForClose()
    replyOk(lastExchange(server.exchanges))
    await busy.waitFor('ok')
  })
})

describe('the close of the listener', () => {
  test('answers received requests with connection: close, and accepts no new connection', async () => {
    const server = await startDataListener()
    const busy = await server.client(formatGet('/busy') + formatGet('/ahead'))
    const idle = await server.client()
    await server.waitForRequests(1)
    await waitFor(() => expect(server.listener.counts().connections).toBe(2))
    const closed = server.listener.close(60_000)
    const late = net.connect(server.listener.port, '127.0.0.1')
    await new Promise((resolve) => late.once('error', resolve))
    // An open connection without a request may still send one.
    idle.send(formatGet('/idle'))
    await server.waitForRequests(2)
    for (const exchange of [...server.exchanges]) replyOk(exchange)
    await server.waitForRequests(3)
    replyOk(lastExchange(server.exchanges))
    await closed
    await idle.waitForClose()
    await busy.waitForClose()
    expect(idle.text).toMatch(/connection: close[\s\S]*ok$/i)
    expect(busy.text).toMatch(/\/busy[\s\S]*keep-alive[\s\S]*\/ahead[\s\S]*connection: close[\s\S]*ok$/i)
  })

  test('waits only briefly for idle connections, and for busy ones up to its limit', async () => {
    const server = await startDataListener()
    const idle = await server.client()
    const busy = await server.client(formatGet())
    await server.waitForRequests(1)
    await waitFor(() => expect(server.listener.counts().connections).toBe(2))
    const closed = server.listener.close(60_000)
    server.clock.advance(defaultInboundLimits.linger_ms)
    await idle.waitForClose()
    expect(busy.isClosed).toBe(false)
    server.clock.advance(60_000)
    await closed
    await busy.waitForClose()
  })
})

test('a connection above the limit ends the oldest one without a request', async () => {
  const server = await startDataListener(replyOk, { limits: { connections: 1 } })
  const silent = await server.client()
  await waitFor(() => expect(server.listener.counts().connections).toBe(1))
  const second = await server.client()
  await silent.waitForClose()
  expect(server.unrouted).toEqual(['too_many_connections'])
  second.send(formatGet())
  await second.waitFor('ok')
  expect(server.listener.counts().connections).toBe(1)
})

test('a connection above the limit is closed when all others have a request', async () => {
  const exchanges: Exchange[] = []
  const server = await startDataListener((exchange) => void exchanges.push(exchange), { limits: { connections: 1 } })
  const first = await server.client(formatGet())
  await server.waitForRequests(1)
  const second = await server.client()
  await second.waitForClose()
  expect(server.unrouted).toEqual(['too_many_connections'])
  exchanges[0]?.reply(200, [], Buffer.from('ok'))
  await first.waitFor('ok')
})

test('two listeners share an address where the system supports it', {
  skip: process.platform !== 'linux',
}, async () => {
  const { dataListener } = await import('./data-listener.ts')
  const server = await startDataListener(replyOk)
  const options = {
    limits: defaultInboundLimits,
    clock: server.clock,
    handle: replyOk,
    onConnectionFault: () => undefined,
  }
  const first = await dataListener({ ...options, listen: { host: '127.0.0.1', port: 0, reusePort: true } })
  const second = await dataListener({ ...options, listen: { host: '127.0.0.1', port: first.port, reusePort: true } })
  expect(second.port).toBe(first.port)
  await expect(dataListener({ ...options, listen: { host: '127.0.0.1', port: first.port } })).rejects.toThrow(
    'EADDRINUSE',
  )
  await Promise.all([first.close(0), second.close(0)])
})
