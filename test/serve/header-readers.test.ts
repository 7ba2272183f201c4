// The small readers of request headers, by themselves: Accept after RFC 9110, tokens after RFC 6750.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { methodLookup, pathLookup, toRouterPath } from '../../adapters/serve/http/method-lookup.ts'
import { parseAccept } from '../../adapters/serve/http/parse-accept.ts'
import { parseBearer } from '../../adapters/serve/http/request-headers.ts'
import type { ServedRoute } from '../../daemon/kernel/operation/operation.ts'

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
  expect(parseAccept(header)).toEqual(accepts)
  expect(parseAccept(header)).toEqual(accepts)
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
  expect(parseBearer(header)).toBe(token)
})

test('a path knows its methods, and a dot in it is a dot', () => {
  const at = (method: string, path: string) => ({ operation: { method, path } }) as ServedRoute
  const methodsOf = methodLookup([
    at('GET', '/a/{id}/b.json'),
    at('POST', '/a/{id}/b.json'),
    at('PUT', '/a:b'),
    at('PUT', '/a/b'),
    at('PATCH', '/{id}/b'),
  ])
  expect(methodsOf('/a/1/b.json')).toEqual(['GET', 'HEAD', 'POST'])
  expect(methodsOf('/a/1/bxjson')).toEqual([])
  expect(methodsOf('/c/b')).toEqual(['PATCH'])
  expect(methodsOf('/a/b')).toEqual(['PUT'])
  expect(methodsOf('/a/1/2/b.json')).toEqual([])
  expect(toRouterPath('/a:b/{some_id}')).toBe('/a::b/:some_id')
})

test('a path that has methods is that of an operation, and one that the router could take for it', () => {
  const at = (path: string) => ({ operation: { method: 'GET', path } }) as ServedRoute
  const paths = ['/health', '/a/{id}/b.json', '/a/{id}', '/x:y']
  const hasPath = pathLookup(paths.map(at))
  const methodsOf = methodLookup(paths.map(at))
  expect(['/health', '/a/1', '/a/', '/a/1/b.json', '/x:y'].map(hasPath)).toEqual(Array(5).fill(true))
  expect(['/', '/healthz', '/a', '/a/1/', '/a/1/bxjson', '/health/', '/X:y', '/a/1/c'].map(hasPath)).toEqual(
    Array(8).fill(false),
  )
  const segment = fc.constantFrom('', 'a', 'b.json', 'bxjson', 'health', 'x:y', '1', '%2F')
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 4 }), (segments) => {
      const path = `/${segments.join('/')}`
      if (methodsOf(path).length > 0) expect(hasPath(path)).toBe(true)
      else if (hasPath(path)) expect(path).toMatch(/\/(\/|$)/)
    }),
  )
})
