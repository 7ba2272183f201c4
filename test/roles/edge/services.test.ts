// Every service of a site by its paths through the edge, with real roles behind it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendHttpRequest } from '../../support/http/send-http-request.ts'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'
import { type EdgeSite, startEdgeSite } from './edge-site.ts'

const services = {
  'site-service': 'site',
  'consensus-service': 'consensus',
  'intelligence-service': 'intelligence',
  'resolution-service': 'resolution',
  'hub-service': 'hub',
}

let behind: TestSite
let edge: EdgeSite
let token: string
beforeAll(async () => {
  const names = Object.values(services)
  const ports = Object.fromEntries(names.map((name) => [name, { port: 0 }]))
  behind = await startTestSite({ profile: { platform: { roles: names }, ...ports } })
  const backends = Object.fromEntries(Object.entries(services).map(([service, role]) => [service, [behind.url(role)]]))
  edge = await startEdgeSite({ backends })
  token = await behind.token({ roles: ['admin'] })
})
afterAll(async () => {
  await edge?.site.end()
  await behind?.end()
})

const send = (method: 'GET' | 'POST', at: string, body?: unknown) =>
  sendHttpRequest(edge.site.url('edge'), method, at, body, { token })

test.each([
  ['consensus', '/api/v2/consensus/session'],
  ['consensus', '/api/v2/dissent'],
  ['consensus', '/api/v2/audit'],
  ['intelligence', '/api/v1/signal'],
  ['intelligence', '/userspace/insight'],
  ['resolution', '/api/v2/lens'],
  ['resolution', '/userspace/entitycluster'],
  ['hub', '/api/v2/hub/node'],
  ['site', '/api/v2/site/peer'],
  ['site', '/oauth2/jwks'],
])('%s answers at %s as without the edge', async (role, at) => {
  const direct = await behind.call(role, 'GET', at, undefined, { token })
  const through = await send('GET', at)
  expect(through).toMatchObject({ status: 200, json: direct.json })
})

test('the edge answers for itself at the root and under its own prefix', async () => {
  const info = await send('GET', '/service-info')
  expect(info.json).toMatchObject({ name: 'edge-service' })
  const own = await edge.site.token({ roles: ['auditor'] })
  const health = await edge.site.call('edge', 'GET', '/api/v2/edge/health', undefined, { token: own })
  expect(health.json).toMatchObject({
    status: 'ok',
    dependencies: expect.arrayContaining([
      {
        name: 'hub-service',
        state: 'ok',
        detail: expect.stringMatching(/^127\.0\.0\.1:\d+ up$/),
        latency_ms: expect.any(Number),
      },
    ]),
  })
})
