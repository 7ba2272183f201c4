// Access logs with hostile lines: no line stops the parser.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseLogLine } from './access-log.ts'

const at = Date.UTC(2000, 9, 10, 20, 55, 36)

describe('a line of the combined format', () => {
  test.each([
    [
      '203.0.113.7 - frank [10/Oct/2000:13:55:36 -0700] "GET /a?b=c HTTP/1.1" 200 2326 "http://ref/" "UA \\"x\\""',
      { method: 'GET', target: '/a?b=c', source: '203.0.113.7', at, status: 200 },
    ],
    [
      '2001:db8::1 - - [10/Oct/2000:20:55:36 +0000] "POST /caf\\xC3\\xA9\\x22 HTTP/2.0" 404 0',
      { method: 'POST', target: '/caf\xc3\xa9"', source: '2001:db8::1', at, status: 404 },
    ],
    [
      '- - - [x] "GET /a b\\\\c\\t HTTP/1.0" - 0',
      { method: 'GET', target: '/a b\\c\t', source: '', at: undefined, status: undefined },
    ],
    [
      'h - a b [10/Oct/2000:20:55:36 +0000] "GET /a" 400 0',
      { method: 'GET', target: '/a', source: 'h', at, status: 400 },
    ],
  ])('%s', (line, logged) => {
    expect(parseLogLine(line)).toEqual(logged)
  })
})

describe('a JSON line', () => {
  test.each([
    [
      {
        remote_addr: '203.0.113.7',
        request_method: 'GET',
        request_uri: '/a',
        status: '200',
        time_iso8601: '2000-10-10T20:55:36Z',
      },
      { method: 'GET', target: '/a', source: '203.0.113.7', at, status: 200 },
    ],
    [
      { remote_addr: 'x', request: 'GET /é HTTP/1.1', time_local: '10/Oct/2000:13:55:36 -0700' },
      { method: 'GET', target: '/\xc3\xa9', source: 'x', at, status: undefined },
    ],
    [
      { ts: at / 1_000, request: { client_ip: 'x', method: 'GET', uri: '/a' }, status: 200 },
      { method: 'GET', target: '/a', source: 'x', at, status: 200 },
    ],
    [
      {
        ClientHost: 'x',
        RequestMethod: 'GET',
        RequestPath: '/a',
        DownstreamStatus: 503,
        StartUTC: '2000-10-10T20:55:36Z',
      },
      { method: 'GET', target: '/a', source: 'x', at, status: 503 },
    ],
  ])('%j', (line, logged) => {
    expect(parseLogLine(JSON.stringify(line))).toEqual(logged)
  })
})

test.each([
  ...[
    '',
    'x',
    '{',
    '{}',
    '[]',
    '{"method":"GET"}',
    '{"method":1,"uri":"/a"}',
    '{"request":"x"}',
    '{"method":"","uri":""}',
    '{"method":"\\u001b[2J","uri":"/a"}',
  ],
  ...[
    '1.1.1.1 - - [t] "\\x16\\x03\\x01" 400 0',
    '1.1.1.1 - - [t] "GET /a',
    `{"method":"GET","uri":"/${'a'.repeat(70_000)}"}`,
  ],
])('%j has no request', (line) => {
  expect(parseLogLine(line)).toBeUndefined()
})

test('no line throws', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '"',
    '\\',
    '\\x',
    '\\x4',
    '[',
    ']',
    ' ',
    'GET',
    '/a',
    'HTTP/1.1',
    '200',
    ':',
    '"method"',
    '"uri"',
    '\ud800',
  )
  const lines = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join('')),
  )
  fc.assert(fc.property(lines, (line) => void parseLogLine(line)))
})
