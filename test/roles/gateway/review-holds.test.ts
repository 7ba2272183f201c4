// A review that sees another definition holds the tool at once: a service that reports no changes is read once a minute.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import { accept } from '../../../daemon/roles/gateway/service-tool/accept.ts'
import { list } from '../../../daemon/roles/gateway/service-tool/list.ts'
import { review } from '../../../daemon/roles/gateway/service-tool/review.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { type GatewaySite, setUpServices, startGatewaySite, startService } from './gateway-site.ts'

const limits = { answer_ms: 10_000, answer_bytes: 16_777_216, depth: 128, tools: 2_000 }
const client = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule: addressRule(['127.0.0.0/8']) })

let world: GatewaySite
beforeAll(async () => {
  world = await startGatewaySite(
    {},
    {
      profile: {
        identity: { roles: { drivers: ['maps:drive', 'hub:*'] } },
        platform: { roles: ['site', 'gateway'], deployment_profile: 'single_cluster' },
      },
    },
  )
})
setUpServices()
afterAll(async () => {
  await world?.site.end()
  expect(world?.site.loggedErrors ?? []).toEqual([])
})

const cached = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
const discovery = {
  ...cached,
  supportedVersions: ['2026-07-28'],
  serverInfo: { name: 'x', version: '1' },
  capabilities: { tools: {} },
}

/** A service with two tools and no report of changes. `describe`: the description of one of them. */
async function startSilentService(describe: () => string) {
  const service = await startService()
  service.answerBy(async (response, request) => {
    if (request.url === '/service-info') return void response.end(JSON.stringify({ name: 'maps', mcp_path: '/mcp' }))
    const { id, method } = JSON.parse(Buffer.concat((await request.toArray()) as Buffer[]).toString())
    const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } })
    const tools = [tool('act', describe()), tool('other', 'Another tool')]
    const result = method === 'server/discover' ? discovery : { ...cached, tools }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  await world.register('svc-maps', 'maps', service.url, 86_400)
}

test('a review holds what has changed, and nothing else; a permission that no role has is refused', async () => {
  let description = 'A tool'
  await startSilentService(() => description)
  const admin = await world.site.as({ subject: 'pat', roles: ['admin'] })
  const read = await admin.ok(review, { name: 'maps', authentication: 'none' })
  const of = { name: 'maps', url: read.url, authentication: 'none' } as const
  const tools = read.tools.map(({ name, sha256 = '' }) => ({ name, sha256 }))

  const misspelt = await admin.call(accept, {
    ...of,
    tools: tools.map((tool) => ({ ...tool, permission: 'maps:drvie' })),
  })
  expect(misspelt).toMatchObject({
    status: 422,
    problem: {
      detail: expect.stringMatching(/by name: .*gateway:call.*maps:drive.*; identity\.roles adds others/),
      errors: [
        { path: 'tools.0.permission', message: 'no role has maps:drvie by name' },
        { path: 'tools.1.permission' },
      ],
    },
  })
  const whole = await admin.call(accept, {
    ...of,
    tools: tools.map((tool) => ({ ...tool, permission: 'hub:read-all' })),
  })
  expect(whole.status).toBe(422)
  await admin.ok(accept, { ...of, tools: tools.map((tool) => ({ ...tool, permission: 'maps:drive' })) })
  const states = async () => (await admin.ok(list, { limit: 500 })).items.map(({ name, state }) => `${name} ${state}`)
  await waitUntil(async () => (await states()).join() === 'act offered,other offered')
  const { token } = await world.site.as({ subject: 'dan', roles: ['drivers'] })
  const connection = await client.connect({
    url: new URL('/agentspace', world.site.url('gateway')),
    token: async () => token,
  })
  onTestFinished(() => connection.close())
  const offered = async () => (await connection.listTools()).map(({ name }) => name)

  expect(await offered()).toContain('maps__act')
  description = 'Another definition'
  expect(await states()).toContain('act offered')
  const again = await admin.ok(review, { name: 'maps' })
  expect(again.tools.map(({ name, state }) => `${name} ${state}`)).toEqual(['act changed', 'other accepted'])
  expect(await states()).toEqual(['act held', 'other offered'])
  await waitUntil(async () => !(await offered()).includes('maps__act'))
  await admin.ok(review, { name: 'maps' })
  const auditor = await world.site.token({ subject: 'al', roles: ['auditor'] })
  const at = '/api/v2/gateway/audit?limit=500&action=gateway.tool.held'
  const { json } = await world.site.call('gateway', 'GET', at, undefined, { token: auditor })
  expect((json as { items: { event: object }[] }).items.map(({ event }) => event)).toMatchObject([
    { subject: 'pat', target: 'maps__act' },
  ])
})

test('an acceptance says how calls authenticate', async () => {
  const token = await world.site.token({ subject: 'pat', roles: ['admin'] })
  const body = { url: 'http://127.0.0.1:1/mcp', tools: [{ name: 'act', sha256: '0'.repeat(64) }] }
  const answer = await world.site.call('gateway', 'POST', '/api/v2/gateway/service/maps/tool', body, { token })
  expect([answer.status, JSON.stringify(answer.json)]).toEqual([422, expect.stringContaining('authentication')])
})
