// Requests of a hostile caller, for fast-check: noise, requests of hostile parts, requests of the corpus, and all of these altered.
import fc from 'fast-check'
import { readCorpusRows } from './corpus-row.ts'

/** One character a byte; `cuts`: where it is parted on its way. */
export type HostileTransmission = { readonly bytes: string; readonly cuts: readonly number[] }

const noise = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array).toString('latin1'))

/** Many that are sound for each that is not, or no request would come further than the parser. */
function mostlySound(
  sound: readonly string[],
  hostile: fc.Arbitrary<string> | readonly string[],
  of = 12,
): fc.Arbitrary<string> {
  const odd = 'generate' in hostile ? hostile : fc.constantFrom(...hostile)
  return fc.oneof({ arbitrary: fc.constantFrom(...sound), weight: of - 1 }, { arbitrary: odd, weight: 1 })
}

const methods = mostlySound(
  ['GET', 'GET', 'GET', 'GET', 'HEAD', 'POST', 'POST', 'OPTIONS'],
  ['PUT', 'DELETE', 'TRACE', 'get', 'PRI', 'G ET', ''],
)
const report = '/public-api/api/v1/report'
const targets = mostlySound(
  [
    report,
    `${report}/42`,
    `${report}/a%20b?x=%2e%2e`,
    '/public-api/api/v1/feedback',
    '/public-api//api/./v1/x/../report',
  ],
  [
    ...['/api/v1/report', '/public-api/api/v1/admin', `${report}/../admin`, '/public-api/..%2fadmin', `${report}#x`],
    ...['http://evil.example/public-api/api/v1/report', 'evil.example:443', '*', '//', '/health', '/service-info', ''],
    ...[`${report}/%00`, '/public-api\\api', `${report}/\xe9`, '/public-api/%61pi/v1/report?q=//..', `${report}/..;/a`],
  ],
  4,
)
const versions = mostlySound(['HTTP/1.1'], ['HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', ''])
const ends = mostlySound(['\r\n'], ['\n', '\r', '\r\r\n', '\r\n ', '\0\r\n'], 40)

const plainFields: fc.Arbitrary<string> = fc.constantFrom(
  ...[
    'Authorization: Bearer stolen',
    'AUTHORIZATION: Basic eDp5',
    'Cookie: a=b',
    'X-Forwarded-For: 1.1.1.1, 203.0.113.7',
  ],
  ...[
    'X-Forwarded-For: [::1]:80',
    'X-Forwarded-Host: evil',
    'X-Internal-User: root',
    'Forwarded: for=1.1.1.1',
    'TE: trailers',
  ],
  ...['Accept: */*', 'Accept-Encoding: gzip', 'Content-Type: text/plain', 'Range: bytes=0-', 'If-None-Match: "a"'],
  ...['Connection: close', 'Connection: keep-alive, Authorization', 'Connection: Host', 'Expect: 100-continue'],
  ...['Upgrade: websocket', 'X-HTTP-Method-Override: DELETE', 'X-Original-URL: /api/v1/admin', 'Trailer: X-A'],
  ...['traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'X-Request-Id: a\tb'],
)
const names = fc.constantFrom(
  ...['Host', 'Content-Length', 'Transfer-Encoding', 'Content_Length', 'Transfer_Encoding', 'Connection', 'Expect'],
  ...['Authorization', 'X-Forwarded-For', 'Content-Length ', ' Host', 'Content-Length\0', ':authority', '', 'Accept'],
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
      'xchunked',
      'h2c',
    ],
    ...[
      'chunked, identity',
      'identity',
      '\x0bchunked',
      'close',
      'Content-Length',
      '100-continue',
      'a\r\nX-Injected: 1',
    ],
  ),
  noise.map((text) => text.slice(0, 30)),
)
const irregularFields = fc.tuple(names, fc.constantFrom(': ', ':', ' : ', ''), values).map((parts) => parts.join(''))
const fields = fc.array(fc.tuple(fc.oneof({ arbitrary: plainFields, weight: 9 }, irregularFields), ends), {
  maxLength: 6,
})

const hidden = 'GET /api/v1/admin HTTP/1.1\r\nHost: x\r\n\r\n'
/** With the fields that frame them, well or not. */
const bodies = mostlySound(
  [
    '\r\n',
    '\r\n',
    '\r\n',
    'Content-Length: 5\r\n\r\nabcde',
    `Content-Length: ${hidden.length}\r\n\r\n${hidden}`,
  ].concat(
    `Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n`,
    `Transfer-Encoding: chunked\r\n\r\n5;ext=1\r\nabcde\r\n0\r\nX-Trailer: 1\r\n\r\n`,
  ),
  [
    ...[
      '',
      'Content-Length: 5\r\n\r\nab',
      `Content-Length: 0\r\n\r\n${hidden}`,
      `Content-Length: 5\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `Transfer-Encoding: chunked\r\n\r\n0x5\r\nabcde\r\n0\r\n\r\n${hidden}`,
    'Transfer-Encoding: chunked\r\n\r\nffffffffff\r\na',
  ],
  6,
)

const composedRequests = fc
  .tuple(methods, targets, versions, ends, mostlySound(['Host: city.example\r\n'], ['']), fields, bodies)
  .map(([method, target, version, lineEnd, host, all, body]) => {
    return `${method} ${target} ${version}${lineEnd}${host}${all.flat().join('')}${body}`
  })

/** None for a tunnel: behind another request it ends the connection, and nobody knows how far that one had come. */
const corpusRequests = readCorpusRows()
  .filter(({ slow }) => !slow)
  .map(({ raw_b64 }) => Buffer.from(raw_b64, 'base64').toString('latin1'))
  .filter((text) => text.length < 20_000 && !text.startsWith('CONNECT'))
const anyCorpusRequest = fc.constantFrom(...corpusRequests)

type ByteEdit = readonly [kind: 'insert' | 'cut' | 'double' | 'turn', at: number, bytes: string]
const edits = fc.array(
  fc.tuple(
    fc.constantFrom('insert', 'cut', 'double', 'turn') as fc.Arbitrary<ByteEdit[0]>,
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.oneof(
      fc.constantFrom('\r\n', '\n', '\r', ' ', '\t', '\0', ':', '0', '\r\n\r\n', '\xff'),
      noise.map((text) => text.slice(0, 3)),
    ),
  ),
  { maxLength: 3 },
)

function applyEdits(text: string, changes: readonly ByteEdit[]): string {
  return changes.reduce((now, [kind, where, bytes]) => {
    const at = Math.floor(where * now.length)
    const [before, after] = [now.slice(0, at), now.slice(at)]
    if (kind === 'insert') return before + bytes + after
    if (kind === 'cut') return before + after.slice(bytes.length + 1)
    if (kind === 'double') return before + after.slice(0, 20) + after
    return before + bytes + after.slice(bytes.length)
  }, text)
}

const alteredRequests = fc
  .tuple(fc.oneof(composedRequests, anyCorpusRequest), edits)
  .map(([text, changes]) => applyEdits(text, changes))

/** One connection's worth. */
export const hostileTransmissions: fc.Arbitrary<HostileTransmission> = fc
  .tuple(
    fc.array(fc.oneof({ arbitrary: composedRequests, weight: 12 }, { arbitrary: alteredRequests, weight: 4 }, noise), {
      minLength: 1,
      maxLength: 3,
    }),
    fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
  )
  .map(([parts, cuts]) => {
    const bytes = parts.join('')
    return { bytes, cuts: cuts.map((cut) => Math.floor(cut * bytes.length)).toSorted((a, b) => a - b) }
  })

/** Requests that need no time limit to come to an end: one to three on a connection. */
export const hostileRequests: fc.Arbitrary<string> = fc
  .array(fc.oneof({ arbitrary: composedRequests, weight: 9 }, anyCorpusRequest), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(''))
  .filter((text) => !/ffffffffff|Content-Length: 5\r\n\r\nab(?!cde)/.test(text))
