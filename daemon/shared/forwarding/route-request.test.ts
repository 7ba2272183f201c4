// The service of a request, by host and normal form of its path.
import { expect, test } from 'vitest'
import { isRefusal } from '../../kernel/error/errors.ts'
import { indexRoutes } from '../routing/find-route.ts'
import { buildRoutingTable, defaultRouting } from '../routing/routing-table.ts'
import { readHostHeader, readHostName, routeRequest } from './route-request.ts'

const served = new Set(['consensus-service', 'intelligence-service', 'public-proxy', 'gateway'])
const findRoute = indexRoutes(buildRoutingTable({ ...defaultRouting, served }))

function describeRoute(host: string, target: string): string {
  const found = routeRequest(findRoute, host, target)
  return isRefusal(found)
    ? found.code
    : `${found.service} ${found.path}${found.query}${found.isPublic ? ' public' : ''}`
}

test.each([
  ['a', '/api/v2/consensus/session?x=%2F', 'consensus-service /api/v2/consensus/session?x=%2F'],
  ['a', '//api/v2/./consensus/%73ession', 'consensus-service /api/v2/consensus/session'],
  ['a', '/api/v1/signal', 'intelligence-service /api/v1/signal'],
  ['a', '/public-api/x', 'public-proxy /public-api/x public'],
  ['a', '/agentspace', 'gateway /agentspace'],
  ['AGENTSPACE.cluster.local.:80', '/anything', 'gateway /anything'],
  ['agentspace.cluster.local.evil', '/anything', 'not_found'],
  ['a', '/api/v2/lens', 'no_backend'],
  ['a', '/userspace/unknown', 'no_backend'],
  ['a', '/', 'not_found'],
  ['a', '/api/v2/consensus%2fsession', 'malformed'],
  ['a', '/public-api/../api/v1/signal', 'intelligence-service /api/v1/signal'],
  ['a', '/public-api/..;/api/v1/signal', 'malformed'],
  ['a', '/public-api/%2e%2e/api/v1/signal', 'intelligence-service /api/v1/signal'],
  ['a', '/../api/v1/signal', 'malformed'],
])('host %s and target %s: %s', (host, target, expected) => {
  expect(describeRoute(host, target)).toBe(expected)
})

test('the name of a host is without its port and the dot of an absolute name', () => {
  expect(['A.b:1', 'a.b.', '[::1]:8443', '[2001:DB8::1]', ''].map(readHostName)).toEqual([
    ...['a.b', 'a.b', '[::1]', '[2001:db8::1]', ''],
  ])
})

test('the host is that of the header, where there is one', () => {
  expect(readHostHeader(['accept', 'host', 'HOST', 'a'])).toBe('a')
  expect(readHostHeader(['accept', '*/*'])).toBeUndefined()
})
