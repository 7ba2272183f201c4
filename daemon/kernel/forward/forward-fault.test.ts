// Requests that no route may forward.
import { expect, test } from 'vitest'
import type { Exchange } from './exchange.ts'
import { findForwardFault } from './forward-fault.ts'

const exchange = (changes: Partial<Exchange>) => ({ method: 'GET', target: '/a', framing: 0, ...changes }) as Exchange

test.each(['/', '/a%2Fb//c?d=%20&e', '/a?b=http://c', '/~(a)!;b=[c]|d'])('the target %j may be forwarded', (target) => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'M-SEARCH'])
    expect(findForwardFault(exchange({ method, target }))).toBeUndefined()
})

test.each(['*', 'http://a/b', 'a:443', 'a', '', '?a', '/a#b', '/a b', '/\t', '/\0', '/\xe4', '/\u010a', '/\x7f'])(
  'the target %j is refused, whatever the method',
  (target) => {
    for (const method of ['GET', 'POST', 'OPTIONS']) expect(findForwardFault(exchange({ method, target }))).toBe(400)
  },
)

test.each([
  ['CONNECT', 405],
  ['TRACE', 405],
  ['get', 501],
  ['trace', 501],
  ['Connect', 501],
  ['', 501],
  ['GET /', 501],
  ['A'.repeat(33), 501],
])('the method %j is refused with %i', (method, status) => {
  expect(findForwardFault(exchange({ method }))).toBe(status)
})

test('a body of a method that has none is refused, and a fault of the listener keeps its status', () => {
  for (const framing of [1, 'chunked'] as const) {
    expect(findForwardFault(exchange({ framing }))).toBe(400)
    expect(findForwardFault(exchange({ method: 'HEAD', framing }))).toBe(400)
    expect(findForwardFault(exchange({ method: 'DELETE', framing }))).toBeUndefined()
  }
  expect(findForwardFault(exchange({ fault: { status: 431, reason: 'too_many_fields' } }))).toBe(431)
})
