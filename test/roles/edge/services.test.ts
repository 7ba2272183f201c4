// Every service of a site by its paths through the edge, with real roles behind it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { publish } from '../../../daemon/roles/hub/feed/publish.ts'
import { register } from '../../../daemon/roles/hub/node/register.ts'
import { openEventReader } from '../../support/http/event-reader.ts'
import { sendHttpRequest } from '../../support/http/send-http-request.ts'
import { sendMcpRequest } from '../../support/mcp/mcp-client.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { buildRegistration } from '../hub/hub-site.ts'
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
  const hub = { port: 0, nodes: { alpha: { subject: 'node:alpha' } } }
  behind = await startTestSite({ profile: { platform: { roles: names }, ...ports, hub } })
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

test('AI clients find the tools of intelligence at /agentspace, and at the documented host', async () => {
  for (const host of ['127.0.0.1', 'agentspace.cluster.local']) {
    const listed = await sendMcpRequest(edge.port, 'tools/list', {}, { token, headers: { host } })
    expect(listed.status).toBe(200)
    const { tools } = (listed.json as { result: { tools: { name: string }[] } }).result
    expect(tools.map(({ name }) => name)).toContain('signal_list')
  }
  const refused = await sendMcpRequest(edge.port, 'tools/list', {}, { token, headers: { host: 'evil.example' } })
  expect(refused.status).toBe(403)
})

test('events of a service arrive while its stream goes on', async () => {
  const node = await behind.as({ subject: 'node:alpha', roles: ['node'] })
  await node.ok(register, { id: 'alpha', ...buildRegistration('alpha') })
  const reader = await openEventReader(edge.site.url('edge'), '/api/v2/hub/feed/events', node.token)
  expect(reader).toMatchObject({ status: 200, content_type: 'text/event-stream' })
  const event = { event_id: 'one', session_id: 'ses_1', lens_id: 'vessel', state: 'RATIFIED' } as const
  await node.ok(publish, { id: 'alpha', ...event, at: '2026-03-01T12:00:00.000Z' })
  await waitUntil(() => reader.events.length > 0)
  expect(reader.events[0]?.data).toMatchObject({ event_id: 'one' })
  reader.close()
})

test('a request without a token is refused by the service, and so is one of another site', async () => {
  const url = edge.site.url('edge')
  const foreign = await edge.site.token({ roles: ['admin'] })
  for (const sent of [{}, { token: foreign }])
    expect(await sendHttpRequest(url, 'GET', '/api/v2/consensus/session', undefined, sent)).toMatchObject({
      status: 401,
    })
})
