// The rules of document 000 part C, and their completions: which service gets which path, by what the site has.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { indexRoutes } from './find-route.ts'
import { routedServices } from './routed-services.ts'
import { buildRoutingTable, defaultRouting, type RoutingOptions } from './routing-table.ts'

const every = new Set<string>(routedServices.map(({ name }) => name))
const without = (...names: string[]) => new Set([...every].filter((name) => !names.includes(name)))

function routeOf(path: string, options: Partial<RoutingOptions> = {}, host = 'site.example') {
  const rules = buildRoutingTable({ ...defaultRouting, served: every, ...options })
  const rule = indexRoutes(rules)(host, path)
  return rule && `${rule.service} ${rule.priority}${rule.isServed ? '' : ' no_backend'}`
}

describe('owners', () => {
  test.each([
    ['insight signal block profile report task edition', 'intelligence-service 100'],
    ['lens lensbinding entitymatch entitycluster fusionrun', 'resolution-service 100'],
    ['costlens route isochrone risksurface floodextent actionwindow', 'cost-lens-service 100'],
    ['sensor threshold alert', 'alerting-service 100'],
    ['datapipeline datapipelineconnection dag workflow connection effect status', 'pipeline-service 100'],
    ['chat register guide', 'gateway 100'],
    ['dataset unknown', 'data-platform-service 10'],
  ])('%s: %s, in both formats', (objects, route) => {
    for (const object of objects.split(' '))
      for (const path of [`/api/v1/${object}`, `/userspace/${object}/7`]) expect(routeOf(path)).toBe(route)
  })

  test.each([
    ['/dataspace/signal', 'data-platform-service'],
    ['/api/v2/consensus/session', 'consensus-service 100'],
    ['/api/v2/dissent', 'consensus-service 100'],
    ['/api/v2/federation/contribution', 'consensus-service 100'],
    ['/api/v2/federation/resolution', 'resolution-service 100'],
    ['/api/v2/federation/dataset', 'pipeline-service 100'],
    ['/api/v2/audit', 'consensus-service 100'],
    ['/api/v2/lens_binding/7', 'resolution-service 100'],
    ['/api/v2/entity_match/7/review', 'resolution-service 100'],
    ['/api/v2/fusion/match/7', 'resolution-service 100'],
    ['/public-api/api/v1/report', 'public-proxy 100'],
  ])('%s: %s', (path, route) => expect(routeOf(path)).toContain(route))

  test.each(['/api/v2/unknown', '/health', '/', '/agentspaces'])('%s has no rule', (path) =>
    expect(routeOf(path)).toBeUndefined(),
  )
})

test('a host of its own has the service of that host for every path, also with the gateway in the path', () => {
  const options = { hosts: { 'bravo.example': 'bravo' }, served: new Set([...every, 'bravo']) }
  for (const isGatewayInPath of [false, true])
    for (const path of ['/', '/api/v1/signal', '/agentspace', '/public-api/x', '/unknown'])
      expect(routeOf(path, { ...options, isGatewayInPath }, 'bravo.example')).toBe('bravo 100')
  expect(routeOf('/api/v1/signal', options)).toBe('intelligence-service 100')
})

describe('a service that the site does not have', () => {
  test.each([
    ['/api/v1/signal', 'intelligence-service'],
    ['/userspace/chat', 'gateway'],
    ['/api/v1/effect', 'pipeline-service'],
    ['/api/v1/unknown', 'data-platform-service'],
    ['/api/v2/dissent', 'consensus-service'],
    ['/public-api/x', 'public-proxy'],
  ])('%s: no_backend, and never the catch-all', (path, service) => {
    expect(routeOf(path, { served: without(service) })).toMatch(new RegExp(`^${service} .* no_backend$`))
  })

  test('the data platform has the two documented objects of an absent ingest, and no other', () => {
    const served = without('pipeline-service')
    expect(routeOf('/api/v1/datapipeline/7', { served })).toBe('data-platform-service 100')
    expect(routeOf('/userspace/datapipelineconnection', { served })).toBe('data-platform-service 100')
    expect(routeOf('/userspace/status/datapipeline', { served })).toBe('pipeline-service 100 no_backend')
  })
})

describe('agentspace', () => {
  const host = 'agentspace.cluster.local'
  const agentspaceRoutes = (options: Partial<RoutingOptions>) =>
    ['/', '/api/v1/signal', '/agentspace'].map((path) => routeOf(path, options, host))

  test('is the gateway, whatever the path', () =>
    expect(new Set(agentspaceRoutes({}))).toEqual(new Set(['gateway 100'])))

  test.each<[string, Partial<RoutingOptions>]>([
    ['without a gateway', { served: without('gateway') }],
    ['with a gateway that serves no tools', { hasGatewayAgentspace: false }],
  ])('is intelligence %s', (_, options) => {
    expect(new Set(agentspaceRoutes(options))).toEqual(new Set(['intelligence-service 10']))
    expect(routeOf('/agentspace', options)).toBe('intelligence-service 10')
  })

  test('is at the path of a site’s own host too, with the metadata of its clients', () => {
    expect(routeOf('/agentspace')).toBe('gateway 100')
    expect(routeOf('/.well-known/oauth-protected-resource/agentspace')).toBe('gateway 100')
    expect(routeOf('/.well-known/oauth-authorization-server')).toBe('site-service 100')
  })
})

describe('the gateway in the path of REST', () => {
  test.each(['/api/v1/signal/7', '/userspace/lens', '/dataspace/x', '/api/v1/unknown', '/api/v1/chat'])(
    'it gets %s at 200',
    (path) => expect(routeOf(path, { isGatewayInPath: true })).toBe('gateway 200'),
  )

  test.each([
    ['/public-api/api/v1/signal', 'public-proxy 100'],
    ['/api/v2/dissent', 'consensus-service 100'],
    ['/agentspace', 'gateway 100'],
  ])('it never gets %s', (path, route) => expect(routeOf(path, { isGatewayInPath: true })).toBe(route))
})

describe('registered services', () => {
  const registered = [{ name: 'weather', objects: ['forecast', 'signal'] }]

  test('get their objects, but none that has an owner', () => {
    const options = { registered, served: new Set([...every, 'weather']) }
    expect(routeOf('/api/v1/forecast/7', options)).toBe('weather 100')
    expect(routeOf('/userspace/forecast', options)).toBe('weather 100')
    expect(routeOf('/api/v1/signal', options)).toBe('intelligence-service 100')
    expect(routeOf('/api/v1/forecast', { ...options, isGatewayInPath: true })).toBe('gateway 200')
  })
})

test('without REST only tools, chat and the public prefix are routed', () => {
  expect(routeOf('/api/v1/signal', { hasRest: false })).toBeUndefined()
  expect(routeOf('/public-api/x', { hasRest: false })).toBe('public-proxy 100')
  expect(routeOf('/agentspace', { hasRest: false })).toBe('gateway 100')
})

test('objects of the profile replace those of a service', () => {
  const options = { objects: { 'alerting-service': ['siren'] } }
  expect(routeOf('/api/v1/siren', options)).toBe('alerting-service 100')
  expect(routeOf('/api/v1/sensor', options)).toBe('data-platform-service 10')
})

test('a controller that ranks by priority first finds the same service, for any site', () => {
  const names = fc.subarray([...every])
  const paths = [...every].flatMap((name) =>
    buildRoutingTable({ ...defaultRouting, served: new Set([name]), isGatewayInPath: true }).map(
      ({ prefix }) => prefix,
    ),
  )
  fc.assert(
    fc.property(names, fc.boolean(), fc.boolean(), fc.constantFrom(...paths), (served, inPath, tools, prefix) => {
      const options = { served: new Set(served), isGatewayInPath: inPath, hasGatewayAgentspace: tools }
      const rules = buildRoutingTable({ ...defaultRouting, ...options })
      const path = `${prefix === '/' ? '' : prefix}/7`
      const [first] = rules
        .filter((rule) => rule.host === undefined && path.startsWith(`${rule.prefix}/`))
        .sort((one, other) => other.priority - one.priority || other.prefix.length - one.prefix.length)
      expect(indexRoutes(rules)('any.example', path)?.service).toBe(first?.service)
    }),
    { numRuns: 1_000 },
  )
})
