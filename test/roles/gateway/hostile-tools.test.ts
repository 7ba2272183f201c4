// Tool services that hang, lie, flood or change all the time: each call ends within its limits, and other tools go on.
import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import { accept } from '../../../daemon/roles/gateway/service-tool/accept.ts'
import { list } from '../../../daemon/roles/gateway/service-tool/list.ts'
import { review } from '../../../daemon/roles/gateway/service-tool/review.ts'
import { startLibraryService } from '../../support/mcp/library-service.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { type DescribedService, type GatewaySite, setUpGatewaySite, startService } from './gateway-site.ts'

const limits = { answer_ms: 20_000, answer_bytes: 67_108_864, depth: 128, tools: 2_000 }
const client = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule: addressRule(['127.0.0.0/8']) })

const world = setUpGatewaySite({ tool_call_s: 1 })

type Message = { readonly id?: number; readonly method: string }
type CallScript = (response: ServerResponse, answer: (result: object) => void) => void

const cached = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
const discovery = {
  ...cached,
  supportedVersions: ['2026-07-28'],
  serverInfo: { name: 'x', version: '1' },
  capabilities: { tools: {} },
}

/** A service with one tool. `describe`: its description at each reading of the list. */
async function startTools(name: string, onCall: CallScript, describe = () => 'A tool'): Promise<DescribedService> {
  const service = await startService()
  service.answerBy(async (response, request) => {
    if (request.url === '/service-info') return void response.end(JSON.stringify({ name, mcp_path: '/mcp' }))
    const { id, method } = JSON.parse(Buffer.concat((await request.toArray()) as Buffer[]).toString()) as Message
    const answer = (result: object) =>
      void response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    if (method === 'server/discover') return answer(discovery)
    if (method === 'tools/call') return onCall(response, answer)
    const description = describe()
    answer({ ...cached, tools: [{ name: 'act', description, inputSchema: { type: 'object' } }] })
  })
  await world().register('svc', name, service.url, 86_400)
  await acceptTools(await administrator(), name)
  return service
}

async function acceptTools(admin: Awaited<ReturnType<GatewaySite['site']['as']>>, name: string): Promise<void> {
  const { tools, url } = await admin.ok(review, { name, authentication: 'none' })
  const read = tools.map(({ name: tool, sha256 = '' }) => ({ name: tool, sha256 }))
  await admin.call(accept, { name, url, authentication: 'none', tools: read })
}

async function connect() {
  const token = await world().site.token({ subject: 'ann', roles: ['analyst'] })
  return await client.connect({ url: new URL('/agentspace', world().site.url('gateway')), token: async () => token })
}

const listNames = async () => {
  const connection = await connect()
  const tools = await connection.listTools()
  await connection.close()
  return tools.map(({ name }) => name).filter((name) => name.endsWith('__act'))
}

const call = async (service: string) => {
  const connection = await connect()
  try {
    const { content, is_error } = await connection.callTool({ name: `${service}__act`, input: {}, timeout_ms: 15_000 })
    return is_error ? JSON.stringify(content) : 'answered'
  } finally {
    await connection.close()
  }
}

const sound: CallScript = (_, answer) => answer({ resultType: 'complete', content: [] })

test('a service that hangs is spared after its limits, and hides no other', async () => {
  await startTools('hangs', () => undefined)
  await startTools('sound', sound)
  await waitUntil(async () => (await listNames()).join() === 'hangs__act,sound__act')
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => call('hangs')))
  for (const answer of answers) expect(answer).toContain('did not answer within 900 ms')
  expect(await call('hangs')).toContain('is tried again in')
  expect(await call('sound')).toBe('answered')
  expect(await listNames()).toEqual(['hangs__act', 'sound__act'])
})

test.each<[string, CallScript]>([
  ['garbage', (response) => void response.setHeader('content-type', 'application/json').end('{"jsonrpc"')],
  [
    'another id',
    (response) =>
      void response.setHeader('content-type', 'application/json').end('{"jsonrpc":"2.0","id":"x","result":{}}'),
  ],
  ['the end of its connection', (response) => void response.destroy()],
  [
    'half a body',
    (response) => void response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy()),
  ],
  ['a redirect', (response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()],
  ['a status without sense', (response) => void response.writeHead(599).end()],
  ['a body without end', (response) => void flood(response)],
])('a service that answers %s fails the call', async (_, script) => {
  await startTools('lies', script)
  await waitUntil(async () => (await listNames()).includes('lies__act'))
  expect(await call('lies')).toMatch(/unavailable|timeout/)
})

/** As fast as the other side reads. */
function flood(response: ServerResponse): void {
  response.setHeader('content-type', 'application/json')
  const piece = Buffer.alloc(1_048_576, ' ')
  const write = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', write)
  write()
}

test('a service whose list grows beyond its limit is not read, and what was accepted of it stays', async () => {
  let description = 'A tool'
  await startTools('grows', sound, () => description)
  await waitUntil(async () => (await listNames()).includes('grows__act'))
  description = 'x'.repeat(3_000_000)
  const answer = await (await administrator()).call(review, { name: 'grows', authentication: 'none' })
  expect([answer.status, JSON.stringify(answer)]).toEqual([503, expect.stringContaining('large')])
  expect(await call('grows')).toBe('answered')
})

const administrator = () => world().site.as({ subject: 'pat', roles: ['admin'] })
const statesOf = async (service: string) =>
  (await (await administrator()).ok(list, { limit: 500, service })).items.map(({ state }) => state)

test('of a service that lists another definition at each reading nothing can be accepted', async () => {
  let readings = 0
  await startTools('restless', sound, () => {
    readings += 1
    return `Version ${readings}`
  })
  expect(await statesOf('restless')).toEqual([])
})

test('a tool that changes again and again is held once, with one record', async () => {
  const service = await startLibraryService('2026-07-28')
  service.serviceInfo = { name: 'turns', mcp_path: service.url.pathname }
  onTestFinished(() => service.close())
  await world().register('svc', 'turns', service.url.origin, 86_400)
  await acceptTools(await administrator(), 'turns')
  for (const version of [1, 2, 3]) {
    const before = service.credentials.length
    await service.define('echo', { description: `Version ${version}` })
    await waitUntil(() => service.credentials.length > before)
    await waitUntil(async () => (await statesOf('turns')).includes('held'))
  }
  const token = await world().site.token({ subject: 'al', roles: ['auditor'] })
  const trail = await world().site.call('gateway', 'GET', '/api/v2/gateway/audit?limit=500', undefined, { token })
  expect(JSON.stringify(trail.json).match(/gateway\.tool\.held/g)).toHaveLength(1)
})
