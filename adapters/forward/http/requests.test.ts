// Requests of untrusted clients: each has one interpretation or is refused, and is never echoed.
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { BodyResult, Exchange } from '../../../daemon/kernel/forward/exchange.ts'
import {
  closeDataListeners,
  formatGet,
  formatPost,
  startDataListener,
} from '../../../test/support/proxy/test-data-listener.ts'
import { checkRequestFraming } from './request-fault.ts'

afterEach(closeDataListeners)

const replyOk = (exchange: Exchange) => exchange.reply(exchange.fault?.status ?? 200, [], Buffer.from('ok'))

/** Reads the body of any method, and replies with it or with its failure. */
const replyWithBody = (exchange: Exchange) =>
  exchange.fault
    ? exchange.reply(exchange.fault.status, [])
    : exchange.readBody(100, (body) => exchange.reply(typeof body === 'string' ? 400 : 200, [], bodyBytes(body)))

const bodyBytes = (body: BodyResult) => (typeof body === 'string' ? Buffer.from(`<${body}>`) : body)

describe('a request', () => {
  test('is passed on unchanged', async () => {
    const server = await startDataListener(replyOk)
    const client = await server.client(
      'GET http://x/%2e%2E//a;b?c=%zz#d HTTP/1.1\r\nHOST: a\r\nX-A: 1\r\nx-a:  2 \r\n\r\n',
    )
    await client.waitFor('ok')
    expect(server.exchanges[0]).toMatchObject({
      method: 'GET',
      target: 'http://x/%2e%2E//a;b?c=%zz#d',
      rawHeaders: ['HOST', 'a', 'X-A', '1', 'x-a', '2'],
      peer: '127.0.0.1',
      fault: undefined,
      framing: 0,
    })
  })

  test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'])('of %s reaches the handler', async (method) => {
    const server = await startDataListener(replyOk)
    const client = await server.client(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n`)
    await client.waitFor('ok')
    expect(server.exchanges[0]).toMatchObject({ method, fault: undefined })
  })

  test('for an upgrade is an ordinary request, and the last of its connection', async () => {
    const server = await startDataListener(replyOk)
    const client = await server.client(
      formatGet('/ws', 'Connection: Upgrade\r\nUpgrade: websocket\r\n') + formatGet('/next'),
    )
    await client.waitFor(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*ok$/i)
    client.socket.end()
    await client.waitForClose()
    expect(server.exchanges.map(({ target }) => target)).toEqual(['/ws'])
  })
})

/** Methods, versions and fields that Node's parser accepts. */
const faultyRequests: readonly [name: string, text: string, status: number, reason: string][] = [
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 400, 'bad_host'],
  ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n', 400, 'bad_host'],
  ['a path for a host', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n', 400, 'bad_host'],
  ['a user in the host', 'GET / HTTP/1.1\r\nHost: a@b\r\n\r\n', 400, 'bad_host'],
  ['a list of hosts', 'GET / HTTP/1.1\r\nHost: a, b\r\n\r\n', 400, 'bad_host'],
  ['an invalid port', 'GET / HTTP/1.1\r\nHost: a:80x\r\n\r\n', 400, 'bad_host'],
  ['no version', 'GET /\r\n\r\n', 505, 'bad_version'],
  ['HTTP/0.9', 'GET / HTTP/0.9\r\n\r\n', 505, 'bad_version'],
  ['HTTP/2.0', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n', 505, 'bad_version'],
  ['chunks of HTTP/1.0', 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400, 'bad_framing'],
  ['two codings', formatPost('0\r\n\r\n', 'Transfer-Encoding: gzip, chunked\r\n'), 501, 'unknown_coding'],
  ['a length for CGI gateways', formatPost('abc', 'Content_Length: 3\r\n'), 400, 'bad_framing'],
  [
    'a coding for CGI gateways',
    formatPost('abc', 'Transfer_Encoding: chunked\r\nContent-Length: 3\r\n'),
    400,
    'bad_framing',
  ],
  ['another expectation', formatPost('abc', 'Expect: banana\r\nContent-Length: 3\r\n'), 417, 'unknown_expectation'],
  [
    'an expectation within another',
    formatPost('abc', 'Expect: y 100-continue\r\nContent-Length: 3\r\n'),
    417,
    'unknown_expectation',
  ],
  ['many fields', formatGet('/', 'X: 1\r\n'.repeat(100)), 431, 'too_many_fields'],
  ['a name that overflows', formatGet('/', `Content-Length${'0'.repeat(256)}: 1\r\n`), 400, 'bad_name'],
  ['a tunnel', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', 400, 'tunnel'],
]

describe('a body of a method without one', () => {
  test.each([
    ['GET', 'Content-Length: 3\r\n', 'abc'],
    ['GET', 'Transfer-Encoding: chunked\r\n', '0\r\n\r\n'],
    ['HEAD', 'Content-Length: 3\r\n', 'abc'],
    ['OPTIONS', 'Content-Length: 3\r\n', 'abc'],
  ])('of %s with %j is left to the handler, and ends the connection', async (method, field, body) => {
    const server = await startDataListener(replyOk)
    const client = await server.client(`${method} / HTTP/1.1\r\nHost: a\r\n${field}\r\n${body}${formatGet('/hidden')}`)
    await client.waitForClose()
    expect(server.exchanges.map(({ fault, target }) => [fault, target])).toEqual([[undefined, '/']])
    expect(client.text).toMatch(/connection: close/i)
    expect(client.text.match(/HTTP\/1\.1/g)).toHaveLength(1)
  })
})

describe('a fault', () => {
  test('of an expectation is reported only if nothing else is wrong', () => {
    expect(checkRequestFraming('1.1', ['Expect', 'x', 'Host', 'a'], 100)).toMatchObject({
      reason: 'unknown_expectation',
    })
    expect(checkRequestFraming('1.1', ['Expect', 'x', 'Host', 'a', 'Content-Length', 'x'], 100)).toMatchObject({
      reason: 'bad_framing',
    })
  })

  test.each(faultyRequests)(
    'of %s is answered by the handler, and ends the connection',
    async (_, text, status, reason) => {
      const server = await startDataListener(replyOk)
      // Bytes after a faulty request are not parsed as a request.
      const client = await server.client(text + formatGet('/hidden'))
      await client.waitForClose()
      expect(server.exchanges.map(({ fault }) => fault)).toEqual([{ status, reason }])
      expect(client.text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(client.text).toMatch(/connection: close/i)
      expect(client.text.match(/HTTP\/1\.1/g)).toHaveLength(1)
    },
  )

  test('of a second framing field is found, even if an earlier parser accepted it', () => {
    for (const second of [
      ['Content-Length', '3'],
      ['Transfer-Encoding', 'chunked'],
    ]) {
      const rawHeaders = ['Host', 'a', 'content-length', '3', ...second]
      expect(checkRequestFraming('1.1', rawHeaders, 100)).toMatchObject({ reason: 'bad_framing' })
    }
  })

  test.each(['', 'a', 'a:80', 'a.example:', '[::1]:8080', '10.0.0.1', 'a_b'])('is not the host %j', (host) => {
    expect(checkRequestFraming('1.1', ['Host', host], 100)).toBe(0)
  })
})

const unreadableRequests: readonly [name: string, text: string, status: number][] = [
  ['TLS', '\x16\x03\x01\x00\x05hello', 400],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['a lower-case method', 'get / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a blank in the target', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['NUL in the target', 'GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a control byte in the target', 'GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['bare LF', 'GET / HTTP/1.1\nHost: a\n\n', 400],
  ['bare LF after a field', 'GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n', 400],
  ['bare CR in a value', formatGet('/', 'X: a\rb\r\n'), 400],
  ['NUL in a value', formatGet('/', 'X: a\0b\r\n'), 400],
  ['a folded line', formatGet('/', 'X: a\r\n b\r\n'), 400],
  ['a blank before the colon', formatGet('/', 'X : a\r\n'), 400],
  ['no colon', formatGet('/', 'NoColon\r\n'), 400],
  ['length and chunks', formatPost('0\r\n\r\n', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'), 400],
  ['chunks and length', formatPost('0\r\n\r\n', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n'), 400],
  ['chunked twice', formatPost('0\r\n\r\n', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'), 400],
  ['two lengths', formatPost('abc', 'Content-Length: 3\r\nContent-Length: 3\r\n'), 400],
  ['a list of lengths', formatPost('abc', 'Content-Length: 3, 3\r\n'), 400],
  ['a signed length', formatPost('abc', 'Content-Length: +3\r\n'), 400],
  ['a length that is not a number', formatPost('abc', 'Content-Length: 3e0\r\n'), 400],
  ['a length beyond 64 bits', formatPost('abc', 'Content-Length: 18446744073709551621\r\n'), 400],
  ['chunked that is not last', formatPost('0\r\n\r\n', 'Transfer-Encoding: chunked, gzip\r\n'), 400],
  ['a vertical tab in the coding', formatPost('0\r\n\r\n', 'Transfer-Encoding: \x0bchunked\r\n'), 400],
  ['too large a head', formatGet('/', `X: ${'x'.repeat(17_000)}\r\n`), 431],
  ['too large a target', formatGet(`/${'x'.repeat(17_000)}`), 431],
]

describe('bytes that are not a request', () => {
  test.each(unreadableRequests)('%s: refused without an echo, and closed', async (_, text, status) => {
    const server = await startDataListener(replyOk)
    const client = await server.client(text)
    await client.waitForClose()
    expect(client.text).toMatch(
      new RegExp(`^HTTP/1\\.1 ${status} [\\w ]+\\r\\nConnection: close\\r\\nContent-Length: 0\\r\\n\\r\\n$`),
    )
    expect(server.exchanges).toHaveLength(0)
    expect(server.unrouted).toEqual([status === 431 ? 'head_too_large' : 'malformed'])
  })

  test('after a request: only that request is answered', async () => {
    const server = await startDataListener()
    const client = await server.client(`${formatGet('/good')}garbage\r\n\r\n${formatGet('/hidden')}`)
    await server.waitForRequests(1)
    replyOk(server.exchanges[0] as Exchange)
    await client.waitForClose()
    expect(client.text.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(client.text).toMatch(/ok$/)
    expect(server.exchanges).toHaveLength(1)
  })

  test('after unsent responses: these are sent first, in order', async () => {
    const server = await startDataListener((exchange) => exchange.reply(200, ['X-Path', exchange.target]))
    const client = await server.client(`${formatGet('/1')}${formatGet('/2')}${formatGet('/3')}garbage\r\n\r\n`)
    await client.waitForClose()
    expect(client.text.match(/(?<=X-Path: )\/\d|HTTP\/1\.1 400/g)).toEqual(['/1', '/2', '/3', 'HTTP/1.1 400'])
  })

  test('during a streamed response: it completes, and the connection ends', async () => {
    const server = await startDataListener((exchange) => exchange.begin(200, [], 4))
    const client = await server.client(formatGet())
    await client.waitFor('keep-alive')
    client.send('garbage\r\n\r\n')
    // The response to another client shows that the garbage was read.
    await (await server.client('garbage\r\n\r\n')).waitForClose()
    server.exchanges[0]?.end('good')
    await client.waitForClose()
    expect(client.text).toMatch(/\r\n\r\ngood$/)
  })

  test('of any kind do not stop the listener', async () => {
    const server = await startDataListener(replyOk)
    const part = fc.oneof(
      fc.constantFrom(
        ...faultyRequests.map(([, text]) => text),
        ...unreadableRequests.map(([, text]) => text),
        formatGet(),
        formatPost('abc'),
      ),
      fc.string({ unit: fc.nat(255).map((byte) => String.fromCharCode(byte)), maxLength: 20 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 4 }), async (parts) => {
        const before = server.exchanges.length + server.unrouted.length
        const client = await server.client(parts.join(''))
        client.socket.end()
        await client.waitForClose()
        const answers = client.text.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0
        expect(answers).toBeLessThanOrEqual(server.exchanges.length + server.unrouted.length - before)
      }),
      { numRuns: 100 },
    )
    const client = await server.client(formatGet())
    await client.waitFor('ok')
  })
})

test('a CONNECT request that is reset while it is refused causes no error', async () => {
  const server = await startDataListener()
  const client = await server.client('CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n')
  await server.waitForRequests(1)
  client.socket.resetAndDestroy()
  await expect.poll(() => server.exchanges[0]?.isOver).toBe(true)
  server.exchanges[0]?.reply(400, [])
  expect(server.listener.counts().connections).toBe(0)
})

test.each(['at once', 'never'])(
  'a CONNECT request after a request that is answered %s ends the connection',
  async (when) => {
    const server = await startDataListener((exchange) => {
      if (when === 'at once') replyOk(exchange)
    })
    const client = await server.client(`${formatGet('/1')}CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n`)
    await client.waitForClose()
    expect(server.exchanges.map(({ target }) => target)).toEqual(['/1'])
    expect(server.exchanges[0]?.isOver).toBe(true)
    expect(server.listener.counts().connections).toBe(0)
  },
)

describe('a body', () => {
  test('is read completely, by length and by chunks; trailers and extensions are dropped', async () => {
    const server = await startDataListener(replyWithBody)
    const client = await server.client(formatPost('by length'))
    await client.waitFor('by length')
    client.send(
      formatPost(
        '3;ext="x"\r\nby \r\n6\r\nchunks\r\n0\r\nX-Forwarded-For: 9.9.9.9\r\n\r\n',
        'Transfer-Encoding: chunked\r\n',
      ),
    )
    await client.waitFor('by chunks')
    client.send(formatPost(''))
    await client.waitFor(/Content-Length: 0\r\n[\s\S]*\r\n\r\n$/)
    expect(JSON.stringify(server.exchanges[1]?.rawHeaders)).not.toContain('9.9.9.9')
  })

  test('is not requested by 100 Continue before the handler reads it', async () => {
    const server = await startDataListener()
    const client = await server.client(formatPost('', 'Expect: 100-continue\r\nContent-Length: 5\r\n'))
    await server.waitForRequests(1)
    expect(client.text).toBe('')
    replyWithBody(server.exchanges[0] as Exchange)
    await client.waitFor('100 Continue')
    client.send('hello')
    await client.waitFor(/200 OK[\s\S]*hello$/)
  })

  test('that is refused before it is sent is not requested, and the connection ends', async () => {
    const server = await startDataListener((exchange) => exchange.reply(413, []))
    const client = await server.client(formatPost('', 'Expect: 100-continue\r\nContent-Length: 5\r\n'))
    await client.waitFor(/^HTTP\/1\.1 413 /)
    expect(client.text).toMatch(/connection: close/i)
    client.socket.end()
    await client.waitForClose()
  })

  test('that was not requested before the response ends the connection; pipelined requests are dropped', async () => {
    const server = await startDataListener(replyOk)
    const client = await server.client(formatGet('/first', 'Expect: 100-continue\r\n') + formatGet('/ahead'))
    await client.waitFor(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*ok$/i)
    client.socket.end()
    await client.waitForClose()
    expect(server.exchanges.map(({ target }) => target)).toEqual(['/first'])
  })

  test.each([
    ['by its length', formatPost('x'.repeat(1_000))],
    ['by chunks', formatPost(`60\r\n${'x'.repeat(96)}\r\n`.repeat(2), 'Transfer-Encoding: chunked\r\n')],
  ])('that is too large %s is refused; its remaining bytes are not parsed as a request', async (_, text) => {
    const server = await startDataListener(replyWithBody)
    const client = await server.client(text + formatGet('/hidden'))
    await client.waitFor('<too_large>')
    client.socket.end()
    await client.waitForClose()
    expect(client.text.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(server.exchanges).toHaveLength(1)
  })

  test('that is refused during its transfer: the client gets the response, however much it sends', async () => {
    const server = await startDataListener(replyWithBody)
    const client = await server.client(formatPost('', 'Content-Length: 8388608\r\n'))
    for (let at = 0; at < 64; at++) client.send('x'.repeat(131_072))
    await client.waitFor('<too_large>')
    client.socket.end()
    await client.waitForClose()
  })

  test.each(['0x3', '+3', '3 ', '-3', 'g', ''])('whose chunk is of the size %j is malformed', async (size) => {
    const server = await startDataListener(replyWithBody)
    const client = await server.client(
      formatPost(`${size}\r\nabc\r\n0\r\n\r\n`, 'Transfer-Encoding: chunked\r\n') + formatGet('/hidden'),
    )
    await client.waitForClose()
    expect(client.text).toMatch(/^HTTP\/1\.1 400 /)
    expect(client.text.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(server.exchanges).toHaveLength(1)
  })

  test('that failed before the handler reads it is reported as failed', async () => {
    const server = await startDataListener()
    const client = await server.client(formatPost('x\r\n', 'Transfer-Encoding: chunked\r\n'))
    await server.waitForRequests(1)
    await (await server.client('garbage\r\n\r\n')).waitForClose()
    replyWithBody(server.exchanges[0] as Exchange)
    await client.waitFor(/^HTTP\/1\.1 400 [\s\S]*<malformed>$/)
  })

  test('of a client that has left is reported as gone', async () => {
    const bodies: BodyResult[] = []
    const server = await startDataListener()
    const client = await server.client(formatPost('', 'Content-Length: 5\r\n'))
    await server.waitForRequests(1)
    client.socket.destroy()
    await expect.poll(() => server.exchanges[0]?.isOver).toBe(true)
    server.exchanges[0]?.readBody(100, (body) => void bodies.push(body))
    expect(bodies).toEqual(['gone'])
  })

  test('that breaks off is reported to its handler as gone', async () => {
    const bodies: BodyResult[] = []
    const server = await startDataListener((exchange) => exchange.readBody(100, (body) => void bodies.push(body)))
    const client = await server.client(formatPost('', 'Content-Length: 5\r\n').concat('hel'))
    await server.waitForRequests(1)
    client.socket.destroy()
    await expect.poll(() => bodies).toEqual(['gone'])
  })
})
