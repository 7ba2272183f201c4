// Request bodies of every wrong kind, over a real socket: each is refused for what it is, and the service goes on.
import * as net from 'node:net'
import { describe, expect, test } from 'vitest'
import { adminHeaders, jsonHeaders, startEchoServer } from '../support/echo/echo-server.ts'
import { formatRawRequest, sendRawHttp } from '../support/http/send-raw-http.ts'

const nestArrays = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

describe('JSON', () => {
  test.each([
    ['plain', '{"text":"héllo","number":1.5}', { text: 'héllo', number: 1.5 }],
    ['with space around', ' \r\n{"number":1}\n', { number: 1 }],
    ['with 500,000 blanks in a row', `{"number":${' '.repeat(500_000)}1}`, { number: 1 }],
    ['with a harmless escape', '{"text":"\\u00e9\\ud83d\\ude00"}', { text: 'é😀' }],
    ['with brackets in a string', `{"text":"${'['.repeat(200)}\\""}`, { text: `${'['.repeat(200)}"` }],
    ['with a key again in other objects', '{"text":"{\\"a\\":1,\\"a\\":2}"}', { text: '{"a":1,"a":2}' }],
    ['with a large number', '{"number":1e308}', { number: 1e308 }],
  ])('%s is read', async (_what, body, expected) => {
    const { request: ask } = await startEchoServer()
    const answer = await ask('POST /any', { ...adminHeaders, ...jsonHeaders }, body)
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.body)).toEqual(expected)
  })

  test.each([
    ['cut', '{"a":', 400],
    ['trailing garbage', '{} x', 400],
    ['two documents', '{}{}', 400],
    ['a comment', '{} // no', 400],
    ['a trailing comma', '{"a":1,}', 400],
    ['NaN', '{"number":NaN}', 400],
    ['Infinity', '{"number":Infinity}', 400],
    ['a byte order mark', '\ufeff{}', 400],
    ['an array', '[]', 400],
    ['null', 'null', 400],
    ['a string', '"x"', 400],
    ['__proto__', '{"__proto__":{"admin":true}}', 400],
    ['__proto__ twice', '{"__proto__":1,"__proto__":{"admin":true}}', 400],
    ['__proto__ in escapes', '{"a":{"\\u005f\\u005fproto__":1}}', 400],
    ['half a surrogate pair', '{"text":"\\ud800"}', 400],
    ['half a pair as a key', '{"\\udc00":1}', 400],
    ['a key twice', '{"text":"a","text":"b"}', 400],
    ['a key twice, once in escapes', '{"text":"a","\\u0074ext":"b"}', 400],
    ['a key twice with one value', '{"number":1,"number":1}', 400],
    ['a key twice inside', `{"a":[{"b":{"c":1,"d":"${'x'.repeat(200)}","c":2}}]}`, 400],
    ['too deep', `{"a":${nestArrays(64)}}`, 400],
    ['much too deep', nestArrays(400_000), 400],
    ['more than 10,000 values', `{"a":[${'0,'.repeat(10_000)}0]}`, 413],
    ['more than 10,000 keys', `{${Array.from({ length: 10_001 }, (_, at) => `"k${at}":0`).join(',')}}`, 413],
    ['a number of 5,000 digits', `{"number":${'1'.repeat(5_000)}}`, 422],
    ['1e999', '{"number":1e999}', 422],
    ['-1e999 inside', '{"a":[{"b":-1E+999}]}', 422],
    ['400 digits', `{"a":${'9'.repeat(400)}}`, 422],
  ])('%s is refused', async (_what, body, status) => {
    const { request: ask } = await startEchoServer()
    const answer = await ask('POST /any', { ...adminHeaders, ...jsonHeaders }, body)
    expect(answer.headers['content-type']).toBe('application/problem+json')
    expect(answer.status).toBe(status)
  })

  test('nesting of 64 is read', async () => {
    const { request: ask } = await startEchoServer()
    expect((await ask('POST /any', { ...adminHeaders, ...jsonHeaders }, `{"a":${nestArrays(63)}}`)).status).toBe(200)
  })

  test.each([
    ['a key that no object may have', '{"__proto__":{}}', 400],
    ['half a surrogate pair', '"\\ud800"', 400],
    ['a number beyond the range of a double', '1e999', 422],
  ])('%s is found in a large body too', async (_what, value, status) => {
    const { request: ask } = await startEchoServer()
    const body = `{"text":"${'x'.repeat(100_000)}","more":${value}}`
    expect((await ask('POST /any', { ...adminHeaders, ...jsonHeaders }, body)).status).toBe(status)
  })

  test('commas, brackets and quotation marks in strings are not values', async () => {
    const { request: ask } = await startEchoServer()
    const text = JSON.stringify({ text: `${'\\"[{,'.repeat(1_500)}\\` })
    expect((await ask('POST /any', { ...adminHeaders, ...jsonHeaders }, text)).status).toBe(200)
  })

  test.each([
    ['unknown', '{"admin":true}'],
    ['of a wrong type', '{"number":"1"}'],
    ['of the path', '{"id":"y"}'],
  ])('a field that is %s is refused with 422', async (_what, body) => {
    const { request: ask } = await startEchoServer()
    expect((await ask('POST /echo/x', { ...adminHeaders, ...jsonHeaders }, body)).status).toBe(422)
  })

  test('bytes that are not UTF-8 are refused', async () => {
    const { server } = await startEchoServer()
    for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
      const body = Buffer.concat([Buffer.from('{"text":"'), Buffer.from(bytes), Buffer.from('"}')])
      const head = `POST /any HTTP/1.1\r\nhost: t\r\nconnection: close\r\nauthorization: ${adminHeaders.authorization}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
      const answer = await sendRawHttp({ port: server.port }, Buffer.concat([Buffer.from(head), body]))
      expect(answer.status).toBe(400)
    }
  })
})

describe('content types', () => {
  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ])('%s is read', async (type) => {
    const { request: ask } = await startEchoServer()
    expect((await ask('POST /any', { ...adminHeaders, 'content-type': type }, '{}')).status).toBe(200)
  })

  test.each([
    'text/plain',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/jsonp',
    'application/vnd.api+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json, text/plain',
    'nonsense',
    '',
  ])('"%s" is refused with 415', async (type) => {
    const { request: ask } = await startEchoServer()
    expect((await ask('POST /any', { ...adminHeaders, 'content-type': type }, '{}')).status).toBe(415)
  })

  test('a body without a content type is refused, also in chunks', async () => {
    const { request: ask } = await startEchoServer()
    expect((await ask('POST /any', adminHeaders, '{}')).status).toBe(415)
    expect(
      (await ask('POST /any', { ...adminHeaders, 'transfer-encoding': 'chunked' }, '2\r\n{}\r\n0\r\n\r\n')).status,
    ).toBe(415)
  })

  test('no body needs no content type, and may have any', async () => {
    const { request: ask } = await startEchoServer()
    for (const headers of [
      {},
      jsonHeaders,
      { 'content-length': '0' },
      { ...jsonHeaders, 'content-length': '0' },
      { 'content-type': 'text/plain' },
    ]) {
      expect((await ask('POST /any', { ...adminHeaders, ...headers })).status).toBe(200)
    }
  })

  test('GET and DELETE take no body', async () => {
    const { request: ask } = await startEchoServer()
    expect((await ask('GET /echo/x', { ...adminHeaders, ...jsonHeaders }, '{}')).status).toBe(400)
    expect((await ask('DELETE /echo/x', { ...adminHeaders, ...jsonHeaders }, '{}')).status).toBe(400)
    expect((await ask('DELETE /echo/x', { ...adminHeaders, 'content-length': '0' })).status).toBe(204)
  })

  test('a form is read where the operation asks for one, each field once', async () => {
    const { request: ask } = await startEchoServer()
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(JSON.parse((await ask('POST /form', form, 'a=1%202&b=+x')).body)).toEqual({ a: '1 2', b: ' x' })
    expect((await ask('POST /form', form, 'a=1&b=2&a=3')).status).toBe(400)
    expect((await ask('POST /form', form, 'a=1&b=2&c=3')).status).toBe(422)
    expect((await ask('POST /form', jsonHeaders, '{"a":"1","b":"2"}')).status).toBe(415)
  })
})

describe('size', () => {
  const padded = (bytes: number) => `{"text":"${'x'.repeat(bytes - 11)}"}`

  test('the limit of the operation is exact', async () => {
    const { request: ask } = await startEchoServer()
    expect((await ask('POST /echo/x', { ...adminHeaders, ...jsonHeaders }, padded(10_000))).status).toBe(201)
    expect((await ask('POST /echo/x', { ...adminHeaders, ...jsonHeaders }, padded(10_001))).status).toBe(413)
  })

  test('the limit is 1 MiB where the operation names none', async () => {
    const { request: ask } = await startEchoServer()
    expect((await ask('POST /any', { ...adminHeaders, ...jsonHeaders }, padded(1_048_576))).status).toBe(200)
    expect((await ask('POST /any', { ...adminHeaders, ...jsonHeaders }, padded(1_048_577))).status).toBe(413)
  })

  describe('of many at once', () => {
    const limits = { body_bytes: 1_000, large_bodies_bytes: 20_000, large_bodies_bytes_per_caller: 12_000 }
    const as = (name: string) => ({ authorization: `Bearer ${name}.admin`, ...jsonHeaders })

    /** Declares a body of so many bytes, and sends none of it. */
    function begun({ server }: Awaited<ReturnType<typeof startEchoServer>>, name: string, bytes: number): net.Socket {
      const socket = net.connect(server.port, '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write(formatRawRequest('POST /echo/x', { ...as(name), 'content-length': String(bytes) }))
      return socket
    }

    test('large ones find no more memory than there is, by what they declare; small ones go on', async () => {
      const world = await startEchoServer({ limits })
      const held = [begun(world, 'alice', 9_000), begun(world, 'bob', 9_000)]
      await expect.poll(async () => (await world.request('POST /echo/x', as('carol'), padded(5_000))).status).toBe(503)
      const refused = await world.request('POST /echo/x', as('carol'), padded(5_000))
      expect([refused.headers['retry-after'], refused.status]).toEqual(['1', 503])
      expect((await world.request('POST /echo/x', as('carol'), padded(1_000))).status).toBe(201)
      const chunked = { ...as('carol'), 'transfer-encoding': 'chunked' }
      expect((await world.request('POST /echo/x', chunked, '2\r\n{}\r\n0\r\n\r\n')).status).toBe(503)
      held[0]?.destroy()
      await expect.poll(async () => (await world.request('POST /echo/x', as('carol'), padded(5_000))).status).toBe(201)
    })

    test('one caller cannot take it all', async () => {
      const world = await startEchoServer({ limits })
      begun(world, 'alice', 9_000)
      await expect.poll(async () => (await world.request('POST /echo/x', as('alice'), padded(5_000))).status).toBe(503)
      expect((await world.request('POST /echo/x', as('bob'), padded(9_000))).status).toBe(201)
    })
  })

  test('a huge announced body is refused before it is sent', async () => {
    const { request: ask } = await startEchoServer()
    const answer = await ask('POST /any', { ...adminHeaders, ...jsonHeaders, 'content-length': '1000000000000' })
    expect(answer.status).toBe(413)
  })

  test('a chunked body is refused once it is over the limit', async () => {
    const { request: ask } = await startEchoServer()
    const chunks = `${'3e8\r\n'}${'x'.repeat(1000)}\r\n`.repeat(20)
    const answer = await ask(
      'POST /echo/x',
      { ...adminHeaders, ...jsonHeaders, 'transfer-encoding': 'chunked' },
      `${chunks}0\r\n\r\n`,
    )
    expect(answer.status).toBe(413)
  })

  test('the connection ends after a refusal: the rest of the body is passed over', async () => {
    const { server } = await startEchoServer()
    const head = `host: t\r\nauthorization: ${adminHeaders.authorization}\r\ncontent-type: application/json\r\n`
    const big = `POST /echo/x HTTP/1.1\r\n${head}content-length: 20000\r\n\r\n${'x'.repeat(20_000)}`
    const next = `POST /echo/x HTTP/1.1\r\n${head}connection: close\r\ncontent-length: 2\r\n\r\n{}`
    const { text } = await sendRawHttp({ port: server.port }, big + next)
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413'])
  })
})
