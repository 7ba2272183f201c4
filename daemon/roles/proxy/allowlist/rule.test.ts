// Syntax of the allowlist; each fault names line, entry and remedy.
import { describe, expect, test } from 'vitest'
import { formatRuleFault, parseAllowlist } from './rule.ts'

const faultsOf = (text: string) => parseAllowlist(text).faults.map(formatRuleFault)

describe('an allowlist', () => {
  test('has one entry per line, or several separated by commas; comments and empty lines are ignored', () => {
    const { rules, faults } = parseAllowlist(
      '# read, and nothing, else\r\nGET /a,HEAD /a\n\n   POST\t/b  limit=3 ,, GET /c/{id}/d cache=30 limit=5\n  # GET /e\nGET /f/*',
    )
    expect(faults).toEqual([])
    expect(rules).toEqual([
      { name: 'GET /a', method: 'GET', segments: ['a'], isSubtree: false },
      { name: 'HEAD /a', method: 'HEAD', segments: ['a'], isSubtree: false },
      { name: 'POST /b', method: 'POST', segments: ['b'], isSubtree: false, limit: 3 },
      {
        name: 'GET /c/{id}/d',
        method: 'GET',
        segments: ['c', undefined, 'd'],
        isSubtree: false,
        cache_s: 30,
        limit: 5,
      },
      { name: 'GET /f/*', method: 'GET', segments: ['f'], isSubtree: true },
    ])
  })

  test('is empty for empty text', () => {
    expect(parseAllowlist('')).toEqual({ rules: [], faults: [] })
  })

  test('allows the root, trailing slashes, subtrees and encoded characters', () => {
    const entries = ['GET /', 'GET /*', 'GET /a/', 'GET /a/{b}/*', 'HEAD /caf%C3%A9', 'POST /a']
    const { rules, faults } = parseAllowlist(entries.join('\n'))
    expect(faults).toEqual([])
    expect(rules.map(({ name }) => name)).toEqual(entries)
  })

  test('keeps cache=0, which disables the cache', () => {
    expect(parseAllowlist('HEAD /a cache=0').rules).toMatchObject([{ name: 'HEAD /a', cache_s: 0 }])
  })
})

describe('refused', () => {
  test.each([
    ['PUT /a', 'line 1, "PUT /a": "PUT" may not be allowlisted: only GET, HEAD and POST'],
    ['PATCH /a', 'line 1, "PATCH /a": "PATCH" may not be allowlisted: only GET, HEAD and POST'],
    ['GET /a\nget /b', 'line 2, "get /b": methods are written in capitals: GET'],
    ['GET', 'line 1, "GET": the path is missing; write METHOD /path'],
    ['GET a/b', 'line 1, "GET a/b": the path must begin with a slash'],
    ['GET /a?b=c', 'line 1, "GET /a?b=c": a rule has no query and no fragment: it allows any query'],
    ['GET /a\nGET /b, GET /a', 'line 2, "GET /a": the same requests as "GET /a": remove one of the two'],
    [
      'GET /a/{x}\nGET /a/{y} limit=1',
      'line 2, "GET /a/{y} limit=1": the same requests as "GET /a/{x}": remove one of the two',
    ],
    ['POST /a/*', 'line 1, "POST /a/*": POST does not allow /*: name each path that may be written to'],
    ['POST /a cache=5', 'line 1, "POST /a cache=5": responses to POST are never cached: remove cache='],
    ['GET /a limit=0', 'line 1, "GET /a limit=0": limit=0 would refuse every request: remove the rule'],
    ['GET /a limit=1 limit=2', 'line 1, "GET /a limit=1 limit=2": limit= is set twice'],
    ['GET /%61', 'line 1, "GET /%61": requests for it are normalised to /a: write that'],
    ['GET /a//b', 'line 1, "GET /a//b": requests for it are normalised to /a/b: write that'],
    ['GET /%e2%82%ac', 'line 1, "GET /%e2%82%ac": requests for it are normalised to /%E2%82%AC: write that'],
  ])('%j: %s', (text, fault) => {
    expect(faultsOf(text)).toEqual([fault])
  })

  test.each([
    ...['GET /a limit=x', 'GET /a limit', 'GET /a ttl=5', 'GET /a b', 'GET /a limit=-1', 'GET /a limit=1e3'],
    ...[
      'GET /a/{}',
      'GET /a/{b',
      'GET /a/b}',
      'GET /a/x{b}',
      'GET /a/{b}.json',
      'GET /a/{b c}',
      'GET /a*',
      'GET /*/a',
      'GET /a/**',
    ],
    ...[
      'GET /a/..',
      'GET /../a',
      'GET /a/./b',
      'GET /a%2Fb',
      'GET /é',
      'GET /a\\b',
      'GET /a/..;x',
      'GET /a//*',
      'GET /%zz',
    ],
    ...['* /a', 'GET:/a', 'CONNECT a:80', 'DELETE /a', 'PATCH /a', 'OPTIONS /a', 'GETX /a'],
  ])('%j', (text) => {
    expect(parseAllowlist(text)).toMatchObject({ rules: [], faults: [{ line: 1 }] })
  })

  test('reports every faulty entry at once, each shortened', () => {
    expect(faultsOf(`PUT /a\nGET /b\nDELETE /c, GET ${'x'.repeat(5_000)}`)).toHaveLength(3)
    expect(Math.max(...faultsOf(`GET ${'x'.repeat(5_000)}`).map(({ length }) => length))).toBeLessThan(300)
  })
})
