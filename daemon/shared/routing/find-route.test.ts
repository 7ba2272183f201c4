// Which rule holds for a request, in tables of every shape.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { indexRoutes } from './find-route.ts'
import type { RoutingRule } from './routing-table.ts'

const rule = (prefix: string, { priority = 100, host, service = prefix }: Partial<RoutingRule> = {}): RoutingRule => ({
  ...{ ingress: `${service}-rest`, prefix, priority, host, service, isServed: true },
})
const serviceFor = (rules: readonly RoutingRule[], path: string, host = 'site.example') =>
  indexRoutes(rules)(host, path)?.service

describe('a prefix', () => {
  const rules = [rule('/api/v1'), rule('/api/v1/signal'), rule('/api/v1/signal-bulk')]

  test.each([
    ['/api/v1/signal', '/api/v1/signal'],
    ['/api/v1/signal/', '/api/v1/signal'],
    ['/api/v1/signal/7/changes', '/api/v1/signal'],
    ['/api/v1/signal-bulk', '/api/v1/signal-bulk'],
    ['/api/v1/signal-bulk/7', '/api/v1/signal-bulk'],
    ['/api/v1/signals', '/api/v1'],
    ['/api/v1/signal-', '/api/v1'],
    ['/api/v1/', '/api/v1'],
    ['/api/v1', '/api/v1'],
    ['/api/v10', undefined],
    ['/api', undefined],
    ['/', undefined],
  ])('%s is at %s: whole segments count', (path, service) => expect(serviceFor(rules, path)).toBe(service))

  test('`/` holds for what no other names', () => expect(serviceFor([rule('/'), rule('/a')], '/b/c')).toBe('/'))
})

test('of two rules with one prefix the higher priority holds, in either order', () => {
  const both = [rule('/a', { priority: 10, service: 'low' }), rule('/a', { priority: 200, service: 'high' })]
  expect([serviceFor(both, '/a'), serviceFor(both.toReversed(), '/a/b')]).toEqual(['high', 'high'])
})

test('a longer prefix holds over a higher priority', () => {
  const rules = [rule('/a', { priority: 200 }), rule('/a/b', { priority: 10 })]
  expect(serviceFor(rules, '/a/b')).toBe('/a/b')
})

test('a host that rules name has those rules alone', () => {
  const rules = [rule('/a'), rule('/tools', { host: 'tools.example' })]
  expect([
    serviceFor(rules, '/tools', 'tools.example'),
    serviceFor(rules, '/a', 'tools.example'),
    serviceFor(rules, '/a', 'other.example'),
    serviceFor(rules, '/tools', 'other.example'),
  ]).toEqual(['/tools', undefined, '/a', undefined])
})

test('it is the rule that a search of all rules finds', () => {
  const segment = fc.constantFrom('a', 'b', 'ab')
  const path = (max: number) => fc.array(segment, { maxLength: max }).map((segments) => `/${segments.join('/')}`)
  const host = fc.constantFrom(undefined, 'x', 'y')
  const rules = fc.array(
    fc.record({ prefix: path(3), host, priority: fc.constantFrom(10, 100, 200), service: segment }),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(rules, path(5), fc.constantFrom('x', 'z'), (drawn, target, requested) => {
      const all = drawn.map(({ prefix, ...rest }) => rule(prefix, rest))
      const ofHost = all.filter(({ host: named }) => named === requested)
      const candidates = (ofHost.length > 0 ? ofHost : all.filter(({ host: named }) => named === undefined))
        .filter(({ prefix }) => prefix === '/' || `${target}/`.startsWith(`${prefix}/`))
        .sort((one, other) => other.prefix.length - one.prefix.length || other.priority - one.priority)
      const found = indexRoutes(all)(requested, target)
      const [first] = candidates
      expect(found && [found.prefix, found.priority]).toEqual(first && [first.prefix, first.priority])
    }),
    { numRuns: 500 },
  )
})
