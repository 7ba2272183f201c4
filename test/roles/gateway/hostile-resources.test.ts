// Services whose resources flood, lie or lead elsewhere: their tools and other services go on, and nothing more is offered.
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import type { ToolConnection } from '../../../daemon/kernel/tools/tool-service.ts'
import { accept } from '../../../daemon/roles/gateway/service-tool/accept.ts'
import { list } from '../../../daemon/roles/gateway/service-tool/list.ts'
import { review } from '../../../daemon/roles/gateway/service-tool/review.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { setUpGatewaySite, startService } from './gateway-site.ts'

const limits = { answer_ms: 20_000, answer_bytes: 67_108_864, depth: 128, tools: 2_000 }
const client = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule: addressRule(['127.0.0.0/8']) })

const world = setUpGatewaySite({ tool_call_s: 1 })

type Message = { readonly id?: number; readonly method: string; readonly params?: { readonly uri?: string } }
type Answer = (result: object) => void

const cached = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
const notes = { uri: 'notes://all', name: 'notes' }
const sound = (uri: string) => ({ contents: [{ uri, text: 'sound' }] })

/** `resources`: undefined for a service that says it has none. */
type Script = {
  readonly resources?: (params: object) => object
  readonly templates?: readonly object[]
  readonly read?: (uri: string, response: ServerResponse, answer: Answer) => void
}

/** A service with one tool. Returns the methods that it was requested. */
async function startScripted(name: string, { resources, templates, read }: Script): Promise<string[]> {
  const requested: string[] = []
  const service = await startService()
  service.answerBy(async (response, request) => {
    if (request.url === '/service-info') return void response.end(JSON.stringify({ name, mcp_path: '/mcp' }))
    const message = JSON.parse(Buffer.concat((await request.toArray()) as Buffer[]).toString()) as Message
    const { id, method, params = {} } = message
    requested.push(method)
    response.setHeader('content-type', 'application/json')
    const send = (said: object) => void response.end(JSON.stringify({ jsonrpc: '2.0', id, ...said }))
    const answer: Answer = (result) => send({ result: { ...cached, ...result } })
    if (method === 'server/discover')
      return answer({
        supportedVersions: ['2026-07-28'],
        serverInfo: { name: 'x', version: '1' },
        capabilities: { tools: {}, ...(resources ? { resources: {} } : {}) },
      })
    if (method === 'tools/list') return answer({ tools: [{ name: 'act', inputSchema: { type: 'object' } }] })
    if (method === 'tools/call') return answer({ content: [] })
    if (method === 'resources/list' && resources) return answer(resources(params))
    if (method === 'resources/templates/list' && templates) return answer({ resourceTemplates: templates })
    if (method === 'resources/read') return (read ?? ((uri) => answer(sound(uri))))(params.uri ?? '', response, answer)
    response.statusCode = 404
    send({ error: { code: -32_601, message: 'unknown method' } })
  })
  await world().register('svc', name, service.url, 86_400)
  return requested
}

const administrator = () => world().site.as({ subject: 'pat', roles: ['admin'] })
const readReview = async (name: string) => (await administrator()).ok(review, { name, authentication: 'none' })

async function acceptAll(name: string): Promise<number> {
  const { tools, url } = await readReview(name)
  const read = tools.map(({ name: of, sha256 = '' }) => ({ name: of, sha256 }))
  const given = { name, url, authentication: 'none', tools: read } as const
  return (await (await administrator()).call(accept, given)).status
}

async function withClient<T>(use: (connection: ToolConnection) => Promise<T>): Promise<T> {
  const token = await world().site.token({ subject: 'ann', roles: ['analyst'] })
  const url = new URL('/agentspace', world().site.url('gateway'))
  const connection = await client.connect({ url, token: async () => token })
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

const listUris = () => withClient(async (connection) => (await connection.listResources()).map(({ uri }) => uri))
const waitForOffer = (uri: string) => waitUntil(async () => (await listUris()).includes(uri))
const read = (uri: string) => withClient((connection) => connection.readResource({ uri, timeout_ms: 15_000 }))
const callTool = (name: string) =>
  withClient(async (connection) => (await connection.callTool({ name, input: {}, timeout_ms: 15_000 })).is_error)

const many = (count: number, length = 8) =>
  Array.from({ length: count }, (_, at) => ({ ...notes, uri: `notes://${String(at).padStart(length, '0')}` }))

test.each<[string, Script, RegExp]>([
  ['lists 100,000 resources', { resources: () => ({ resources: many(100_000) }) }, /larg|limit/],
  ['lists more than are accepted', { resources: () => ({ resources: many(501) }) }, /more than the 500 resources/],
  ['never ends its list', { resources: () => ({ resources: [notes], nextCursor: 'more' }) }, /more than 64 pages/],
  [
    'lists more text than is read',
    { resources: () => ({ resources: many(90, 2_000), nextCursor: 'more' }) },
    /more than 2097152 bytes/,
  ],
  [
    'lists a URI with a control character',
    { resources: () => ({ resources: [{ ...notes, uri: 'a:\u0007' }] }) },
    /URI/,
  ],
  ['lists a URI with a blank', { resources: () => ({ resources: [{ ...notes, uri: 'a: b' }] }) }, /must be a URI/],
  ['lists a URI beyond its length', { resources: () => ({ resources: many(1, 2_100) }) }, /resources|uri/],
  [
    'lists a template of all URIs',
    { resources: () => ({ resources: [] }), templates: [{ name: 'x', uriTemplate: '{+any}' }] },
    /must be a template/,
  ],
  ['lists what is not a resource', { resources: () => ({ resources: [7] }) }, /resources/],
])('of a service that %s the tools alone are offered', async (_, script, trouble) => {
  await startScripted('hostile', script)
  const reviewed = await readReview('hostile')
  expect(reviewed.trouble).toMatch(trouble)
  expect(reviewed.tools.map(({ name, kind }) => `${kind} ${name}`)).toEqual(['tool act'])
  expect(await acceptAll('hostile')).toBe(200)
  await waitUntil(async () => (await callTool('hostile__act').catch(() => true)) === false)
  expect(await listUris()).toEqual([])
})

test('a service without resources is not requested to list any', async () => {
  const requested = await startScripted('plain', {})
  expect(await acceptAll('plain')).toBe(200)
  await waitUntil(async () => (await callTool('plain__act').catch(() => true)) === false)
  expect(requested.filter((method) => method.startsWith('resources/'))).toEqual([])
})

test('a service with resources, and without templates, is read', async () => {
  await startScripted('simple', { resources: () => ({ resources: [notes] }) })
  expect(await acceptAll('simple')).toBe(200)
  await waitForOffer('gateway://simple/notes://all')
  expect(await read('gateway://simple/notes://all')).toEqual([{ uri: 'gateway://simple/notes://all', text: 'sound' }])
})

test('of a list that breaks later, what was accepted stays, and the reason is shown', async () => {
  let count = 1
  const requested = await startScripted('breaks', { resources: () => ({ resources: [notes, ...many(count)] }) })
  expect(await acceptAll('breaks')).toBe(200)
  await waitForOffer('gateway://breaks/notes://all')
  count = 1_000
  // Its changes are not reported: an acceptance begins a new reading.
  const { tools, url } = await readReview('breaks')
  const act = tools.map(({ name, sha256 = '' }) => ({ name, sha256 }))
  expect(act.map(({ name }) => name)).toEqual(['act'])
  const before = requested.length
  await (await administrator()).ok(accept, { name: 'breaks', url, authentication: 'none', tools: act })
  await waitUntil(() => requested.slice(before).filter((method) => method === 'resources/list').length > 0)
  const statesOf = async () => (await (await administrator()).ok(list, { limit: 500, service: 'breaks' })).items
  await waitUntil(async () => (await statesOf()).some(({ trouble }) => trouble?.includes('more than the 500')))
  expect((await statesOf()).map(({ kind, state }) => `${kind} ${state}`)).toEqual(
    expect.arrayContaining(['tool offered', 'resource offered']),
  )
  expect(await read('gateway://breaks/notes://all')).toBeDefined()
})

test('a definition that differs at each reading cannot be accepted', async () => {
  let readings = 0
  await startScripted('restless', {
    resources: () => {
      readings += 1
      return { resources: [{ ...notes, description: `Version ${readings}` }] }
    },
  })
  expect(await acceptAll('restless')).toBe(409)
})

test.each<[string, NonNullable<Script['read']>, RegExp]>([
  ['a body without end', (_, response) => void flood(response), /larger than|limit|answer/],
  ['garbage', (_, response) => void response.end('{"jsonrpc"'), /not JSON/],
  ['the end of its connection', (_, response) => void response.destroy(), /cannot be reached or broke off/],
  ['nothing', () => undefined, /did not answer within 900 ms/],
  ['contents of no kind', (uri, _, answer) => answer({ contents: [{ uri }] }), /protocol/],
  ['contents without a URI', (_, __, answer) => answer({ contents: [{ text: 'x' }] }), /protocol/],
  ['no contents', (_, __, answer) => answer({}), /protocol/],
])('a read that is answered by %s fails, and no other does', async (_, script, failure) => {
  await startScripted('lies', { resources: () => ({ resources: [notes] }), read: script })
  await startScripted('other', { resources: () => ({ resources: [notes] }) })
  for (const name of ['lies', 'other']) expect(await acceptAll(name)).toBe(200)
  await waitForOffer('gateway://lies/notes://all')
  await waitForOffer('gateway://other/notes://all')
  await expect(read('gateway://lies/notes://all')).rejects.toThrow(failure)
  expect(await read('gateway://other/notes://all')).toBeDefined()
})

test('contents that claim to be of another service are those of the service that was read', async () => {
  const forge: Script['read'] = (_, __, answer) => answer(sound('gateway://other/notes://all'))
  await startScripted('forger', { resources: () => ({ resources: [notes] }), read: forge })
  expect(await acceptAll('forger')).toBe(200)
  await waitForOffer('gateway://forger/notes://all')
  expect(await read('gateway://forger/notes://all')).toMatchObject([
    { uri: 'gateway://forger/gateway://other/notes://all' },
  ])
})

/** As fast as the other side reads. */
function flood(response: ServerResponse): void {
  const piece = Buffer.alloc(1_048_576, ' ')
  const write = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', write)
  write()
}
