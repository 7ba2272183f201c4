// Connections of strangers: slow ones, greedy ones, those that go, and the end of the listener.

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

describe('an answer', () => {
  test('has a length, the fields it was given, and one date', async () => {
    const door = await startDataListener((exchange) =>
      exchange.reply(201, ['X-A', '1', 'x-a', '2', 'Date', 'then'], Buffer.from('é')),
    )
    const client = await door.client(formatGet())
    await client.waitFor(/\r\n\r\n.+$/)
    expect(client.text.toLowerCase()).toBe(
      'http/1.1 201 created\r\nx-a: 1\r\nx-a: 2\r\ndate: then\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\n\xe3\xa9',
    )
  })

  test('goes out in one write where it is small', async () => {
    const writes: number[] = []
    const door = await startDataListener(replyOk)
    const client = await door.client()
    client.socket.on('data', (text) => void writes.push(text.length))
    client.send(formatGet())
    await client.waitFor('ok')
    expect(writes).toHaveLength(1)
  })

  test.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ])('to %s with %i has no body, and the next one is not taken for it', async (method, status) => {
    const door = await startDataListener((exchange) =>
      exchange.target === '/' ? exchange.reply(status, [], Buffer.from('hidden')) : replyOk(exchange),
    )
    const client = await door.client(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n${formatGet('/next')}`)
    await client.waitFor('/next')
    expect(client.text).not.toContain('hidden')
    expect(client.text.includes('Content-Length: 6')).toBe(method === 'HEAD')
  })

  test('that streams is framed for who asks: by chunks, or by the end of the connection', async () => {
    const door = await startDataListener((exchange) => {
      exchange.begin(200, [], undefined)
      exchange.write(Buffer.from('one,'))
      exchange.end('two')
    })
    const modern = await door.client(formatGet())
    await modern.waitFor(/transfer-encoding: chunked[\s\S]*4\r\none,\r\n3\r\ntwo\r\n0\r\n\r\n$/i)
    const old = await door.client('GET / HTTP/1.0\r\n\r\n')
    await old.waitForClose()
    expect(old.text).toMatch(/\r\n\r\none,two$/)
  })

  test('that is large comes whole to a client who takes it slowly, and is not held in memory meanwhile', async () => {
    const body = Buffer.alloc(32 << 20, 'x')
    const door = await startDataListener((exchange) => exchange.reply(200, [], body))
    const client = await door.client()
    client.socket.pause()
    client.send(formatGet())
    await door.waitForRequests(1)
    expect(lastExchange(door.exchanges).isOver).toBe(false)
    client.socket.resume()
    await waitFor(() => expect(client.text.length).toBeGreaterThan(body.length))
    expect(client.text.slice(client.text.indexOf('\r\n\r\n') + 4)).toHaveLength(body.length)
    expect(lastExchange(door.exchanges).isOver).toBe(true)
  })

  test('that cannot be finished is cut off: no client takes a part for the whole', async () => {
    const door = await startDataListener((exchange) => {
      exchange.begin(200, [], undefined)
      exchange.write(Buffer.from('part'))
    })
    const client = await door.client(formatGet())
    await client.waitFor('part')
    lastExchange(door.exchanges).cut()
    await client.waitForClose()
    expect(client.text).not.toMatch(/0\r\n\r\n$/)
  })

  test('to a client who went goes nowhere, and throws nothing', async () => {
    const gone: string[] = []
    const door = await startDataListener((exchange) => {
      exchange.answering = { gone: () => void gone.push(exchange.target), drained: () => undefined }
    })
    const client = await door.client(formatGet('/left'))
    await door.waitForRequests(1)
    client.socket.destroy()
    await waitFor(() => expect(gone).toEqual(['/left']))
    const exchange = lastExchange(door.exchanges)
    exchange.reply(200, [], Buffer.from('ok'))
    exchange.begin(200, [], 2)
    exchange.end('ok')
    exchange.cut()
    expect(gone).toHaveLength(1)
    expect(door.listener.counts()).toEqual({ connections: 0, busy: 0 })
  })
})

describe('requests that are sent ahead', () => {
  test('are answered in their order, one at a time', async () => {
    const door = await startDataListener()
    const client = await door.client(formatGet('/1') + formatGet('/2') + formatGet('/3'))
    for (const at of [1, 2, 3]) {
      await door.waitForRequests(at)
      expect(lastExchange(door.exchanges).target).toBe(`/${at}`)
      replyOk(lastExchange(door.exchanges))
    }
    await client.waitFor(/\/1[\s\S]*\/2[\s\S]*\/3/)
  })

  test('are dropped when one before them ends the connection', async () => {
    const door = await startDataListener((exchange) => exchange.reply(413, []))
    const client = await door.client(
      `${formatPost('', 'Content-Length: 50\r\n')}${formatGet('/hidden')}${'x'.repeat(50)}${formatGet('/hidden')}`,
    )
    await client.waitFor('413')
    client.socket.end()
    await client.waitForClose()
    expect(door.exchanges).toHaveLength(1)
    expect(client.text.match(/HTTP\/1\.1/g)).toHaveLength(1)
  })

  test('are bounded', async () => {
    const door = await startDataListener(undefined, { limits: { pipelined: 2 } })
    const client = await door.client(formatGet().repeat(3))
    await door.waitForRequests(1)
    expect(client.isClosed).toBe(false)
    client.send(formatGet())
    await client.waitForClose()
    expect(door.exchanges).toHaveLength(1)
  })

  test.each(['at once', 'later'])('are not served to who takes no answers, when these are given %s', async (when) => {
    const greedy = (exchange: Exchange) => {
      exchange.begin(200, [], undefined)
      exchange.write(Buffer.alloc(32 << 20, 'x'))
      exchange.end()
    }
    const door = await startDataListener((exchange) => {
      if (exchange.target === '/') replyOk(exchange)
      else if (when === 'at once') greedy(exchange)
    })
    const client = await door.client()
    client.socket.pause()
    client.send(formatGet('/greedy').repeat(2))
    await door.waitForRequests(1)
    if (when === 'later') greedy(lastExchange(door.exchanges))
    // The answer to another client tells that there was time to serve the next.
    await (await door.client(formatGet())).waitFor('ok')
    expect(door.exchanges.map(({ target }) => target)).toEqual(['/greedy', '/'])
    client.socket.resume()
    await door.waitForRequests(3)
  })
})

describe('a slow client', () => {
  test.each([
    ['sends nothing', ''],
    ['sends half a line', 'GET / HT'],
    ['sends half a head', 'GET / HTTP/1.1\r\nHost: a\r\n'],
  ])('that %s is told so, and closed', async (_, text) => {
    const door = await startDataListener(replyOk, { limits: { headers_ms: 50, request_ms: 100 } })
    const client = await door.client(text)
    await client.waitForClose()
    expect(client.text).toBe('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    expect(door.unrouted).toEqual(['too_slow'])
  })

  const reading = () => {
    const bodies: BodyResult[] = []
    const handle = (exchange: Exchange) =>
      exchange.readBody(10_000, (body) => {
        bodies.push(body)
        exchange.reply(typeof body === 'string' ? 408 : 200, [])
      })
    return { bodies, handle }
  }
  const { grace_ms, body_rate, answer_grace_ms, idle_ms, stall_ms, linger_ms } = defaultInboundLimits

  test('whose body comes too slowly is refused by its rate, long before the time for a request is over', async () => {
    const { bodies, handle } = reading()
    const door = await startDataListener(handle)
    const client = await door.client(formatPost('', 'Content-Length: 10000\r\n'), { staysOpen: true })
    await door.waitForRequests(1)
    door.clock.advance(grace_ms - 1)
    expect(bodies).toEqual([])
    door.clock.advance(1)
    expect(bodies).toEqual(['too_slow'])
    await client.waitFor(/^HTTP\/1\.1 408 /)
    // Its end is awaited for a while, and then no longer.
    door.clock.advance(linger_ms - 1)
    expect(door.listener.counts().connections).toBe(1)
    door.clock.advance(1)
    await waitFor(() => expect(door.listener.counts().connections).toBe(0))
  })

  test('whose body comes fast enough is heard to its end', async () => {
    const { bodies, handle } = reading()
    const door = await startDataListener(handle)
    const enough = Math.ceil((body_rate * grace_ms) / 1_000)
    const client = await door.client(formatPost('', `Content-Length: ${enough + 1}\r\n`))
    await door.waitForRequests(1)
    client.send('x'.repeat(enough))
    // An answer to another client tells that what came before was read.
    const other = await door.client(formatPost('x', 'Content-Length: 1\r\n'))
    await other.waitFor('200')
    door.clock.advance(grace_ms)
    expect(bodies).toHaveLength(1)
    client.send('x')
    await client.waitFor('200')
  })

  test('whose body is cut by the time for the whole request learns the same', async () => {
    const { bodies, handle } = reading()
    const door = await startDataListener(handle, { limits: { headers_ms: 50, request_ms: 100 } })
    const client = await door.client(formatPost('', 'Content-Length: 10000\r\n'))
    await client.waitFor(/^HTTP\/1\.1 408 /)
    expect(bodies).toEqual(['too_slow'])
    expect(client.text.match(/HTTP\/1\.1/g)).toHaveLength(1)
  })

  /** A client of an answer that no kernel holds whole; it takes only as much as it is told to. */
  const greedy = async (limits: Partial<InboundLimits>) => {
    const gone: string[] = []
    const answer = (exchange: Exchange) => {
      exchange.answering = { gone: () => void gone.push(exchange.target), drained: () => undefined }
      exchange.reply(200, [], Buffer.alloc(64 << 20, 'x'))
    }
    const door = await startDataListener(answer, { limits })
    const { socket, send } = await door.client()
    socket.pause()
    send(formatGet('/large'))
    await door.waitForRequests(1)
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
    return { ...door, gone, take }
  }

  test('that takes no bytes of its answer is closed, and whoever takes some is not while no rate is asked for', async () => {
    const { clock, gone, take, unrouted } = await greedy({ answer_rate: 0 })
    clock.advance(1)
    clock.advance(stall_ms - 1)
    await take(32 << 20)
    clock.advance(1)
    expect(gone).toEqual([])
    clock.advance(stall_ms)
    await waitFor(() => expect(gone).toEqual(['/large']))
    expect(unrouted).toEqual([])
  })

  test('that takes its answer too slowly is closed, and counted, whatever it takes now and then', async () => {
    const { clock, gone, take, unrouted } = await greedy({ answer_rate: 1 << 20, stall_ms: 1_000_000 })
    clock.advance(1)
    clock.advance(answer_grace_ms)
    await take(32 << 20)
    // 15 MiB are asked for by now, and 64 at the end, which is more than the rest of the answer.
    clock.advance(15_000)
    expect([gone, unrouted]).toEqual([[], []])
    clock.advance(50_000)
    expect(unrouted).toEqual(['slow_reader'])
    await waitFor(() => expect(gone).toEqual(['/large']))
  })

  test('that asks nothing more is let go, while one that waits for its answer is not', async () => {
    const door = await startDataListener((exchange) => exchange.target === '/' && replyOk(exchange))
    const idle = await door.client(formatGet())
    const busy = await door.client(formatGet('/later'))
    await idle.waitFor('ok')
    await door.waitForRequests(2)
    door.clock.advance(1)
    door.clock.advance(idle_ms - 1)
    expect(door.listener.counts()).toEqual({ connections: 2, busy: 1 })
    door.clock.advance(1)
    await idle.waitForClose()
    replyOk(lastExchange(door.exchanges))
    await busy.waitFor('ok')
  })
})

describe('the end of the listener', () => {
  test('answers what was asked, says that it is the last, and takes nobody new', async () => {
    const door = await startDataListener()
    const busy = await door.client(formatGet('/busy') + formatGet('/ahead'))
    const idle = await door.client()
    await door.waitForRequests(1)
    await waitFor(() => expect(door.listener.counts().connections).toBe(2))
    const closed = door.listener.close(60_000)
    const late = net.connect(door.listener.port, '127.0.0.1')
    await new Promise((resolve) => late.once('error', resolve))
    // One that has not asked yet still may.
    idle.send(formatGet('/idle'))
    await door.waitForRequests(2)
    for (const exchange of [...door.exchanges]) replyOk(exchange)
    await door.waitForRequests(3)
    replyOk(lastExchange(door.exchanges))
    await closed
    await idle.waitForClose()
    await busy.waitForClose()
    expect(idle.text).toMatch(/connection: close[\s\S]*ok$/i)
    expect(busy.text).toMatch(/\/busy[\s\S]*keep-alive[\s\S]*\/ahead[\s\S]*connection: close[\s\S]*ok$/i)
  })

  test('does not wait for whoever asks nothing, nor for ever', async () => {
    const door = await startDataListener()
    const idle = await door.client()
    const busy = await door.client(formatGet())
    await door.waitForRequests(1)
    await waitFor(() => expect(door.listener.counts().connections).toBe(2))
    const closed = door.listener.close(60_000)
    door.clock.advance(defaultInboundLimits.linger_ms)
    await idle.waitForClose()
    expect(busy.isClosed).toBe(false)
    door.clock.advance(60_000)
    await closed
    await busy.waitForClose()
  })
})

test('connections are counted, and one too many is closed as it comes', async () => {
  const door = await startDataListener(replyOk, { limits: { connections: 1 } })
  const first = await door.client()
  await waitFor(() => expect(door.listener.counts().connections).toBe(1))
  const second = await door.client()
  await second.waitForClose()
  expect(door.unrouted).toEqual(['too_many_connections'])
  first.send(formatGet())
  await first.waitFor('ok')
})

test('two listeners share an address where the system lets them', { skip: process.platform !== 'linux' }, async () => {
  const { dataListener } = await import('./data-listener.ts')
  const door = await startDataListener(replyOk)
  const options = {
    limits: defaultInboundLimits,
    clock: door.clock,
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
