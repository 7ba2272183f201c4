// The small readers of request headers, by themselves: traces after the W3C's rules, Accept after RFC 9110.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { acceptsOf } from '../../adapters/serve/http/accept.ts'
import { bearerOf } from '../../adapters/serve/http/request-headers.ts'
import { routerPath, servedPaths } from '../../adapters/serve/http/served-paths.ts'
import { parseTraceparent, traceOf, traceparent } from '../../adapters/serve/http/trace-context.ts'
import type { Addressed } from '../../daemon/kernel/operation.ts'

describe('traceparent', () => {
  const trace = '0af7651916cd43dd8448eb211c80319c'
  const span = 'b7ad6b7169203331'

  test.each([
    [`00-${trace}-${span}-01`, '01'],
    [`00-${trace}-${span}-00`, '00'],
    [`00-${trace}-${span}-03`, '03'],
    [`00-${trace}-${span}-ff`, '03'],
    [`cc-${trace}-${span}-01`, '01'],
    [`cc-${trace}-${span}-01-what-the-future-brings`, '01'],
  ])('%s is valid', (header, flags) => {
    expect(parseTraceparent(header)).toEqual({ trace_id: trace, flags })
  })

  test.each([
    '',
    `ff-${trace}-${span}-01`,
    `00-${trace}-${span}-01-more`,
    `00-${trace}-${span}-01-`,
    `cc-${trace}-${span}-01.more`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${trace.slice(1)}-${span}-01`,
    `00-${trace}-${span}-1`,
    `00-${trace}-${span}-0g`,
    `00-${trace}-${span}`,
    ` 00-${trace}-${span}-01`,
    `00-${trace}-${span}-01, 00-${trace}-${span}-01`,
  ])('%j is not', (header) => {
    expect(parseTraceparent(header)).toBeUndefined()
    expect(traceOf(header, { random: () => trace })).toEqual({ trace_id: trace, flags: '02' })
  })

  test('what is written can be read', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[0-9a-f]{31}[1-9a-f]$/),
        fc.constantFrom('00', '01', '02', '03'),
        (trace_id, flags) => {
          expect(parseTraceparent(traceparent({ trace_id, flags }, span))).toEqual({ trace_id, flags })
        },
      ),
    )
  })
})

test.each([
  [undefined, []],
  ['', []],
  ['application/json', ['application/json']],
  ['Text/HTML;level=1, */*;q=0.1, text/plain ; q=0.9', ['text/html', 'text/plain', '*/*']],
  ['a/a;q=0.5,b/b;q=0.5,c/c;q=1.000', ['c/c', 'a/a', 'b/b']],
  ['a/a;q=0, b/b;q=0.0', []],
  ['a/a;q=2, b/b;q=x, c/c', ['c/c']],
  [', ,;q=1', []],
])('Accept: %s is %j', (header, accepts) => {
  expect(acceptsOf(header)).toEqual(accepts)
  expect(acceptsOf(header)).toEqual(accepts)
})

test.each([
  [undefined, undefined],
  ['Basic abc', undefined],
  ['Bearer abc.d-e_f~+/==', 'abc.d-e_f~+/=='],
  ['BEARER   abc', 'abc'],
  ['Bearer', ''],
  ['Bearer a b', ''],
  ['Bearer a, Bearer b', ''],
  ['Bearer =', ''],
  ['Bearerx', undefined],
])('Authorization: %s holds the token %j', (header, token) => {
  expect(bearerOf(header)).toBe(token)
})

test('a path knows its methods, and a dot in it is a dot', () => {
  const at = (method: string, path: string) => ({ operation: { method, path } }) as Addressed
  const methodsOf = servedPaths([at('GET', '/a/{id}/b.json'), at('POST', '/a/{id}/b.json'), at('PUT', '/a:b')])
  expect(methodsOf('/a/1/b.json')).toEqual(['GET', 'HEAD', 'POST'])
  expect(methodsOf('/a/1/bxjson')).toEqual([])
  expect(methodsOf('/a/1/2/b.json')).toEqual([])
  expect(routerPath('/a:b/{some_id}')).toBe('/a::b/:some_id')
})
