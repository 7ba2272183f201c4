// What a hostile caller might send, for fast-check: noise, requests of hostile parts, requests of the corpus, and all of these altered.
import fc from 'fast-check'
import { corpusRows } from './proxy-corpus.ts'

/** One character a byte; `cuts`: where it is parted on its way. */
export type Sending = { readonly bytes: string; readonly cuts: readonly number[] }

const noise = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array).toString('latin1'))

const methods = fc.constantFrom(
  ...[
    'GET',
    'GET',
    'GET',
    'HEAD',
    'POST',
    'POST',
    'OPTIONS',
    'PUT',
    'DELETE',
    'TRACE',
    'CONNECT',
    'get',
    'PRI',
    'G ET',
    '',
  ],
)
const targets = fc.constantFrom(
  ...['/public-api/api/v1/report', '/public-api/api/v1/report/42', '/public-api/api/v1/report/a%20b?x=%2e%2e'],
  ...['/public-api/api/v1/feedback', '/public-api//api/./v1/x/../report', '/public-api/%61pi/v1/report?q=//..'],
  ...['/api/v1/report', '/public-api/api/v1/admin', '/public-api/api/v1/report/../admin', '/public-api/..%2fadmin'],
  ...['http://evil.example/public-api/api/v1/report', 'evil.example:443', '*', '//', '/health', '/service-info', ''],
  ...[
    '/public-api/api/v1/report/%00',
    '/public-api/api/v1/report#x',
    '/public-api\\api',
    '/public-api/api/v1/report/\xe9',
  ],
)
const versions = fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', '')
const ends = fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n', '\r\n ', '\0\r\n')

const names = fc.constantFrom(
  ...['Host', 'Content-Length', 'Transfer-Encoding', 'Content_Length', 'Transfer_Encoding', 'Connection', 'Expect'],
  ...[
    'Authorization',
    'AUTHORIZATION',
    'Cookie',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Internal-User',
    'Forwarded',
  ],
  ...['Upgrade', 'Trailer', 'TE', 'Range', 'Accept', 'Accept-Encoding', 'Content-Type', 'If-None-Match', 'traceparent'],
  ...['X-HTTP-Method-Override', 'X-Original-URL', 'Content-Length ', ' Host', 'Content-Length\0', ':authority', ''],
)
const values = fc.oneof(
  fc.constantFrom(
    ...[
      'city.example',
      '0',
      '5',
      '+5',
      '5, 5',
      '0x5',
      '-1',
      '1e1',
      '99999999999999999999',
      'chunked',
      'Chunked',
      'xchunked',
    ],
    ...['chunked, identity', 'identity', '\x0bchunked', 'close', 'keep-alive, Authorization', 'Content-Length', 'Host'],
    ...[
      '100-continue',
      'Upgrade',
      'websocket',
      'h2c',
      '203.0.113.7',
      '1.1.1.1, ::1',
      '[::1]:80',
      'Bearer stolen',
      'a\tb',
    ],
    ...[
      'text/plain',
      'bytes=0-',
      '*/*',
      'a\r\nX-Injected: 1',
      '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    ],
  ),
  noise.map((text) => text.slice(0, 30)),
)
const bodies = fc.constantFrom(
  ...[
    '',
    'abcde',
    '5\r\nabcde\r\n0\r\n\r\n',
    '0\r\n\r\n',
    '5;ext=1\r\nabcde\r\n0\r\nX-Trailer: 1\r\n\r\n',
    '0x5\r\nabcde\r\n0\r\n\r\n',
  ],
  ...[
    'GET /api/v1/admin HTTP/1.1\r\nHost: x\r\n\r\n',
    '0\r\n\r\nGET /api/v1/admin HTTP/1.1\r\nHost: x\r\n\r\n',
    'ffffffffff\r\na',
  ],
)

const fields = fc.array(fc.tuple(names, fc.constantFrom(': ', ': ', ':', ' : ', ''), values, ends), { maxLength: 6 })
const made = fc
  .tuple(methods, targets, versions, ends, fc.boolean(), fields, ends, bodies)
  .map(([method, target, version, lineEnd, hasHost, all, last, body]) => {
    const host = hasHost ? 'Host: city.example\r\n' : ''
    return `${method} ${target} ${version}${lineEnd}${host}${all.flat().join('')}${last}${body}`
  })

const known = corpusRows().map(({ raw_b64 }) => Buffer.from(raw_b64, 'base64').toString('latin1'))
const fromCorpus = fc.constantFrom(...known.filter(({ length }) => length < 20_000))

type Edit = readonly [kind: 'insert' | 'cut' | 'double' | 'turn', at: number, bytes: string]
const edits = fc.array(
  fc.tuple(
    fc.constantFrom('insert', 'cut', 'double', 'turn') as fc.Arbitrary<Edit[0]>,
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.oneof(
      fc.constantFrom('\r\n', '\n', '\r', ' ', '\t', '\0', ':', '0', '\r\n\r\n', '\xff'),
      noise.map((text) => text.slice(0, 3)),
    ),
  ),
  { maxLength: 3 },
)

function edited(text: string, changes: readonly Edit[]): string {
  return changes.reduce((now, [kind, where, bytes]) => {
    const at = Math.floor(where * now.length)
    const [before, after] = [now.slice(0, at), now.slice(at)]
    if (kind === 'insert') return before + bytes + after
    if (kind === 'cut') return before + after.slice(bytes.length + 1)
    if (kind === 'double') return before + after.slice(0, 20) + after
    return before + bytes + after.slice(bytes.length)
  }, text)
}

const altered = fc.tuple(fc.oneof(made, fromCorpus), edits).map(([text, changes]) => edited(text, changes))

/** One connection's worth. */
export const sending: fc.Arbitrary<Sending> = fc
  .tuple(
    fc.array(fc.oneof({ arbitrary: made, weight: 3 }, { arbitrary: altered, weight: 4 }, noise), {
      minLength: 1,
      maxLength: 3,
    }),
    fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
  )
  .map(([parts, cuts]) => {
    const bytes = parts.join('')
    return { bytes, cuts: cuts.map((cut) => Math.floor(cut * bytes.length)).toSorted((a, b) => a - b) }
  })
