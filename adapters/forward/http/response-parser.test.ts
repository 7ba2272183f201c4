// Parses upstream responses from raw bytes: independent of splits, strict where parsers differ, safe for garbage.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ResponseHead } from './response-head.ts'
import { ResponseParser } from './response-parser.ts'

const limits = { head_bytes: 400, interim: 3 }

type ParseOutcome = {
  readonly heads: readonly ResponseHead[]
  readonly body: string
  readonly isOver: boolean
  readonly failure: string
  /** Unread bytes after the end or failure of the response. */
  readonly rest: string
}

/** Feeds the pieces in order, as reads would; with `ends`, then the end of the stream. */
function parsePieces(pieces: readonly Buffer[], options: { isHead?: boolean; ends?: boolean } = {}): ParseOutcome {
  const heads: ResponseHead[] = []
  let body = ''
  let rest = ''
  const parser = new ResponseParser(limits, {
    head: (head) => void heads.push(head),
    data: (bytes) => {
      body += bytes.toString('latin1')
    },
  })
  parser.expect(options.isHead ?? false)
  for (const piece of pieces) rest += piece.subarray(parser.feed(piece)).toString('latin1')
  const isOver = options.ends ? parser.failure === '' && parser.finish() : parser.isOver
  return { heads, body, isOver, failure: parser.failure, rest }
}

const parseText = (text: string, options?: { isHead?: boolean; ends?: boolean }) =>
  parsePieces([Buffer.from(text, 'latin1')], options)

/** One byte a read, and every split in two reads. */
function splitPieces(text: string): readonly (readonly Buffer[])[] {
  const bytes = Buffer.from(text, 'latin1')
  const two = Array.from({ length: bytes.length + 1 }, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)])
  return [[...bytes].map((byte) => Buffer.from([byte])), ...two]
}

const status_line = 'HTTP/1.1 200 OK\r\n'

const validResponses: readonly [name: string, text: string, body: string][] = [
  ['a length', `${status_line}Content-Length: 5\r\nETag: "a:b"\r\n\r\nhello`, 'hello'],
  ['no body by length', `${status_line}content-length:0\r\n\r\n`, ''],
  [
    'chunks',
    `${status_line}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA\r\n, my world\r\n0\r\n\r\n`,
    'hello, my world',
  ],
  ['chunks with line ends', `${status_line}transfer-encoding: Chunked\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n`, '\r\n\r\n'],
  ['extensions of chunks', `${status_line}transfer-encoding: chunked\r\n\r\n2;a="b" ;c\r\nhi\r\n0 ;x\r\n\r\n`, 'hi'],
  ['trailers', `${status_line}transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nExpires: 0\r\nX: \r\n\r\n`, 'hi'],
  [
    'a preceding 1xx response',
    `HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n${status_line}Content-Length: 2\r\n\r\nhi`,
    'hi',
  ],
  ['no reason phrase', 'HTTP/1.1 200\r\nContent-Length: 1\r\n\r\n.', '.'],
  ['bytes beyond ASCII', `HTTP/1.1 200 \xc4\r\nX-A: \xfc\xff\r\nContent-Length: 1\r\n\r\n\0`, '\0'],
  ['no content', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
]

describe('a response', () => {
  test.each(validResponses)('with %s is parsed equally wherever it is split', (_, text, body) => {
    const once = parseText(text)
    expect(once).toMatchObject({ body, isOver: true, failure: '', rest: '' })
    expect(once.heads).toHaveLength(1)
    for (const pieces of splitPieces(text)) expect(parsePieces(pieces)).toEqual(once)
  })

  test.each(validResponses)('with %s is not complete before its last byte', (_, text) => {
    for (let end = 0; end < text.length; end++) {
      expect(parseText(text.slice(0, end), { ends: true })).toMatchObject({ isOver: false, failure: '' })
    }
  })

  test.each(validResponses)('with %s leaves the bytes that follow unread', (_, text, body) => {
    const poison = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nOTHER'
    const outcome = parseText(text + poison)
    expect(outcome).toMatchObject({ body, isOver: true, rest: poison })
    expect(outcome.heads).toHaveLength(1)
  })

  test('without a length ends with the connection', () => {
    const text = `${status_line}X: 1\r\n\r\nuntil\r\n\r\nclose`
    expect(parseText(text)).toMatchObject({ isOver: false })
    for (const pieces of splitPieces(text)) {
      expect(parsePieces(pieces, { ends: true })).toMatchObject({ body: 'until\r\n\r\nclose', isOver: true })
    }
    expect(parseText(text).heads[0]).toMatchObject({ isReusable: false, length: undefined })
  })

  test('to HEAD or with 304 has no body, and keeps its declared length', () => {
    const poison = 'HTTP/1.1 200 OK\r\n\r\n'
    expect(parseText(`${status_line}Content-Length: 5\r\n\r\n${poison}`, { isHead: true })).toMatchObject({
      isOver: true,
      rest: poison,
    })
    expect(parseText(`${status_line}Content-Length: 5\r\n\r\n`, { isHead: true }).heads[0]?.length).toBe(5)
    expect(parseText(`${status_line}Transfer-Encoding: chunked\r\n\r\n`, { isHead: true })).toMatchObject({
      isOver: true,
    })
    expect(parseText('HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\nabc')).toMatchObject({
      isOver: true,
      rest: 'abc',
    })
  })

  test('returns its fields unchanged', () => {
    const { heads } = parseText(
      `${status_line}Set-Cookie: a=1\r\nset-cookie:\t b=2 \t\r\nX-Empty:\r\nContent-Length: 0\r\n\r\n`,
    )
    const fields = ['Set-Cookie', 'a=1', 'set-cookie', 'b=2', 'X-Empty', '', 'Content-Length', '0']
    expect(heads[0]?.rawHeaders).toEqual(fields)
  })

  test.each([
    ['HTTP/1.1 200 OK\r\n', true],
    ['HTTP/1.0 200 OK\r\n', false],
    ['HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n', false],
    ['HTTP/1.1 200 OK\r\nConnection: close\r\n', false],
    ['HTTP/1.1 200 OK\r\nConnection: x\r\nConnection: y, CLOSE\r\n', false],
    ['HTTP/1.1 200 OK\r\nConnection: x-close, closed\r\n', true],
    ['HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n', true],
  ])('%j: the connection is reusable: %s', (head, isReusable) => {
    expect(parseText(`${head}Content-Length: 0\r\n\r\n`).heads[0]?.isReusable).toBe(isReusable)
  })

  test('returns the keep-alive time of the connection', () => {
    const parseKeepAlive = (value: string) =>
      parseText(`${status_line}Keep-Alive: ${value}\r\nContent-Length: 0\r\n\r\n`).heads[0]?.keep_alive_ms
    expect(parseKeepAlive('timeout=5')).toBe(5_000)
    expect(parseKeepAlive('max=100, timeout=2')).toBe(2_000)
    expect(parseKeepAlive('timeout=x')).toBeUndefined()
    expect(parseKeepAlive('xtimeout=1')).toBeUndefined()
  })
})

const longText = 'x'.repeat(limits.head_bytes)

const malformedResponses: readonly [name: string, text: string][] = [
  ['garbage', 'garbage\r\n\r\n'],
  ['nothing before the line end', '\r\nHTTP/1.1 200 OK\r\n\r\n'],
  ['another protocol', 'RTSP/1.0 200 OK\r\n\r\n'],
  ['HTTP/2', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['HTTP/0.9', 'HTTP/0.9 200 OK\r\n\r\n'],
  ['lower case', 'http/1.1 200 OK\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status of 0', 'HTTP/1.1 000 OK\r\n\r\n'],
  ['a status beyond 599', 'HTTP/1.1 600 OK\r\n\r\n'],
  ['a sign before the status', 'HTTP/1.1 +200 OK\r\n\r\n'],
  ['two blanks before the status', 'HTTP/1.1  200 OK\r\n\r\n'],
  ['bare LF after the status line', 'HTTP/1.1 200 OK\nX: 1\r\n\r\n'],
  ['bare LF alone', 'HTTP/1.1 200 OK\n\n'],
  ['bare LF in a field', `${status_line}X: a\nContent-Length: 1\r\n\r\n`],
  ['bare CR in a field', `${status_line}X: a\rb\r\n\r\n`],
  ['CR CR LF', `${status_line}X: a\r\r\n\r\n`],
  ['NUL in a value', `${status_line}X: a\0b\r\n\r\n`],
  ['NUL in a name', `${status_line}X\0: a\r\n\r\n`],
  ['DEL in a value', `${status_line}X: \x7f\r\n\r\n`],
  ['a control byte in the reason', 'HTTP/1.1 200 O\x01K\r\n\r\n'],
  ['a folded line', `${status_line}X: a\r\n b\r\n\r\n`],
  ['a folded first line', `${status_line} X: a\r\n\r\n`],
  ['a blank before the colon', `${status_line}Content-Length : 5\r\n\r\nhello`],
  ['no colon', `${status_line}NoColon\r\n\r\n`],
  ['no name', `${status_line}: value\r\n\r\n`],
  ['a name that is not a token', `${status_line}X(A): 1\r\n\r\n`],
  ['length and chunks', `${status_line}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`],
  ['two equal lengths', `${status_line}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`],
  ['two lengths', `${status_line}Content-Length: 3\r\ncontent-length: 4\r\n\r\nabcd`],
  ['a list of lengths', `${status_line}Content-Length: 3, 3\r\n\r\nabc`],
  ['a negative length', `${status_line}Content-Length: -1\r\n\r\n`],
  ['a signed length', `${status_line}Content-Length: +3\r\n\r\nabc`],
  ['a hexadecimal length', `${status_line}Content-Length: 0x3\r\n\r\nabc`],
  ['an exponent', `${status_line}Content-Length: 1e1\r\n\r\nabc`],
  ['an empty length', `${status_line}Content-Length: \r\n\r\n`],
  ['a length beyond 2^53', `${status_line}Content-Length: 18446744073709551621\r\n\r\nhello`],
  ['an invalid length for HEAD', `${status_line}Content-Length: x\r\n\r\n`],
  ['another coding', `${status_line}Transfer-Encoding: gzip\r\n\r\n`],
  ['two codings', `${status_line}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['chunked twice', `${status_line}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunked and more', `${status_line}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
  ['chunks of HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n'],
  ['four 1xx responses', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(4) + status_line],
  ['a head that is too long', `${status_line}X: ${longText}\r\n\r\n`],
  ['a head that does not end', `${status_line}X: ${longText}${longText}`],
  [
    'a head that is a byte too long',
    `${status_line}X: ${'x'.repeat(limits.head_bytes - status_line.length - 6)}\r\n\r\n`,
  ],
]

const malformedChunks: readonly [name: string, chunks: string][] = [
  ['0x', '0x5\r\nhello\r\n0\r\n\r\n'],
  ['a sign', '+5\r\nhello\r\n0\r\n\r\n'],
  ['no size', '\r\nhello\r\n0\r\n\r\n'],
  ['blanks before', ' 5\r\nhello\r\n0\r\n\r\n'],
  ['nine digits', '000000005\r\nhello\r\n0\r\n\r\n'],
  ['an underscore', '1_0\r\nhello\r\n0\r\n\r\n'],
  ['bare LF after the size', '5\nhello\r\n0\r\n\r\n'],
  ['bare CR in an extension', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
  ['bare LF in an extension', '5;a\nb\r\nhello\r\n0\r\n\r\n'],
  ['NUL in an extension', '5;\0\r\nhello\r\n0\r\n\r\n'],
  ['a chunk longer than its size', '5\r\nhelloX\r\n0\r\n\r\n'],
  ['a chunk that ends by LF', '5\r\nhello\n0\r\n\r\n'],
  ['an extension without end', `5;${'x'.repeat(300)}\r\nhello\r\n0\r\n\r\n`],
  ['a folded trailer', '5\r\nhello\r\n0\r\nA: b\r\n c\r\n\r\n'],
  ['a trailer without colon', '5\r\nhello\r\n0\r\nNoColon\r\n\r\n'],
  ['a trailer with bare LF', '5\r\nhello\r\n0\r\nA: b\nC: d\r\n\r\n'],
  ['trailers that are too long', `5\r\nhello\r\n0\r\nA: ${longText}\r\n\r\n`],
]

describe('a malformed response', () => {
  test.each(malformedResponses)('%s', (_, text) => {
    const once = parseText(text)
    expect(once).toMatchObject({ heads: [], body: '', isOver: false })
    expect(once.failure).not.toBe('')
    for (const pieces of splitPieces(text))
      expect(parsePieces(pieces)).toMatchObject({ heads: [], body: '', isOver: false })
    for (const pieces of splitPieces(text)) expect(parsePieces(pieces).failure).not.toBe('')
  })

  test.each(malformedChunks)('chunks with %s', (_, chunks) => {
    const text = `${status_line}Transfer-Encoding: chunked\r\n\r\n${chunks}`
    const once = parseText(text)
    expect(once.isOver).toBe(false)
    expect(once.failure).not.toBe('')
    for (const pieces of splitPieces(text)) {
      const outcome = parsePieces(pieces)
      expect(outcome).toMatchObject({ heads: once.heads, isOver: false, body: once.body })
      expect(outcome.failure).not.toBe('')
    }
  })

  test('a head may be as long as the limit', () => {
    const text = `${status_line}Content-Length: 0\r\nX: ${'x'.repeat(limits.head_bytes - status_line.length - 26)}\r\n\r\n`
    expect(text).toHaveLength(limits.head_bytes)
    for (const pieces of splitPieces(text)) expect(parsePieces(pieces)).toMatchObject({ isOver: true, failure: '' })
  })
})

/** Hostile bytes: parts of responses, valid and damaged, in any order. */
const hostileResponse = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...validResponses.map(([, text]) => text),
        ...malformedResponses.map(([, text]) => text),
        ...malformedChunks.map(([, text]) => text),
      ),
      fc.constantFrom(
        'HTTP/1.1 200 OK',
        '\r\n',
        '\r',
        '\n',
        '\r\n\r\n',
        'Content-Length: 3\r\n',
        '0\r\n',
        '5\r\n',
        ';',
        ':',
      ),
      fc.constantFrom('Transfer-Encoding: chunked\r\n', 'HTTP/1.1 100 Continue\r\n\r\n', 'ffffffff\r\n'),
      fc.string({ unit: fc.nat(255).map((byte) => String.fromCharCode(byte)), maxLength: 12 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => Buffer.from(parts.join(''), 'latin1'))

describe('any bytes', () => {
  test('are parsed equally however they are split, with one head at most', () => {
    fc.assert(
      fc.property(hostileResponse, fc.array(fc.nat(600), { maxLength: 8 }), fc.boolean(), (bytes, cuts, isHead) => {
        const once = parsePieces([bytes], { isHead })
        expect(once.heads.length).toBeLessThanOrEqual(1)
        const places = [...new Set(cuts.map((cut) => Math.min(cut, bytes.length)))].sort((a, b) => a - b)
        const pieces = [...places, bytes.length].map((end, at) => bytes.subarray(places[at - 1] ?? 0, end))
        const split = parsePieces(pieces, { isHead })
        expect({ ...split, failure: split.failure !== '', rest: '' }).toEqual({
          ...once,
          failure: once.failure !== '',
          rest: '',
        })
        if (once.failure === '') expect(split.rest).toBe(once.rest)
      }),
      { numRuns: 2_000 },
    )
  })

  test('a valid response is parsed to its fields and body', () => {
    const name = fc.stringMatching(/^x-[a-z0-9!#$%&'*+.^_`|~-]{1,12}$/)
    const value = fc.stringMatching(/^([\x21-\x7e]([\t -~]{0,10}[\x21-\x7e])?)?$/)
    const bytes = fc.uint8Array({ maxLength: 40 })
    const written = fc.record({ fields: fc.array(fc.tuple(name, value), { maxLength: 5 }), chunks: fc.array(bytes) })
    fc.assert(
      fc.property(written, fc.boolean(), ({ fields, chunks }, isChunked) => {
        const body = Buffer.concat(chunks)
        const lines = fields.map(([key, text]) => `${key}: ${text}\r\n`).join('')
        const framing = isChunked ? 'transfer-encoding: chunked\r\n\r\n' : `content-length: ${body.length}\r\n\r\n`
        const head = `${status_line}${lines}${framing}`
        fc.pre(head.length <= limits.head_bytes)
        const full = chunks.filter(({ length }) => length > 0)
        const framed = full.map((chunk) =>
          Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]),
        )
        const sent = Buffer.concat([Buffer.from(head), ...(isChunked ? [...framed, Buffer.from('0\r\n\r\n')] : [body])])
        for (const pieces of [[sent], [...sent].map((byte) => Buffer.from([byte]))]) {
          const outcome = parsePieces(pieces)
          expect(outcome).toMatchObject({ isOver: true, failure: '', body: body.toString('latin1') })
          expect(outcome.heads[0]?.rawHeaders.slice(0, fields.length * 2)).toEqual(fields.flat())
        }
      }),
    )
  })
})
