// Documents that AI clients read by URI: what the interface document names, and nothing that the caller may not read over REST.
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createOperationFixture,
  type OperationFixture,
  topSecretClearance,
} from '../support/every-operation/operation-fixture.ts'
import { type McpRequestOptions, openMcpSession, postMcp, sendMcpRequest } from '../support/mcp/mcp-client.ts'

const noItems = { items: [], total: 0, total_is: 'exact' }

let world: OperationFixture
beforeAll(async () => {
  world = await createOperationFixture()
})
afterAll(() => world?.site.close())

const sendRequest = (method: string, params: Readonly<Record<string, unknown>>, options: McpRequestOptions = {}) =>
  sendMcpRequest(world.site.port('resolution'), method, params, { token: world.admin, ...options })

async function readResource(uri: string, token = world.admin) {
  const { json } = await sendRequest('resources/read', { uri }, { token, headers: { 'mcp-name': uri } })
  const { result, error } = json as {
    result?: { contents: { uri: string; mimeType: string; text: string }[] }
    error?: { code: number; message: string }
  }
  const [content] = result?.contents ?? []
  return { error, content, document: content && JSON.parse(content.text) }
}

test('one resource and three templates are listed', async () => {
  const listed = (await sendRequest('resources/list', {})).json
  expect(listed).toMatchObject({ result: { resources: [{ uri: 'fusion://runs', mimeType: 'application/json' }] } })
  const { json } = await sendRequest('resources/templates/list', {})
  const { result } = json as { result: { resourceTemplates: { uriTemplate: string }[] } }
  expect(result.resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'fusion://runs/{run_id}',
    'fusion://runs/{run_id}/matches',
    'fusion://runs/{run_id}/clusters',
  ])
})

test('each says what its operation answers over REST', async () => {
  const { run } = world.resolution
  const rest = async (path: string) =>
    (await world.site.request('resolution', { method: 'GET', path: `/api/v2${path}`, token: world.admin })).json
  const { content, document } = await readResource(`fusion://runs/${run}`)
  expect(content).toMatchObject({ uri: `fusion://runs/${run}`, mimeType: 'application/json' })
  expect(document).toEqual(await rest(`/fusion/run/${run}/status`))
  expect((await readResource(`fusion://runs/${run}/matches`)).document).toEqual(
    await rest(`/entity_match?run_id=${run}&limit=500`),
  )
  expect((await readResource(`fusion://runs/${run}/clusters`)).document).toEqual(
    await rest(`/entity_cluster?run_id=${run}&limit=500`),
  )
  expect((await readResource('fusion://runs')).document).toEqual(noItems)
})

test('a URI that names nothing is not found', async () => {
  const uris = [
    'fusion://runs/nobody',
    'fusion://runs/',
    'fusion://runs/a/b/c',
    'fusion://',
    'file:///etc/passwd',
    'x:%',
  ]
  for (const uri of uris) expect((await readResource(uri)).error?.code, uri).toBe(-32_602)
})

test('neither lists nor reads resources above the caller', async () => {
  const { run } = world.resolution
  const nobody = await world.site.token({ roles: ['nobody'] })
  expect((await sendRequest('resources/list', {}, { token: nobody })).json).toMatchObject({ result: { resources: [] } })
  expect((await readResource('fusion://runs', nobody)).error?.code).toBe(-32_602)
  const foreign = await world.site.token({ tenant_id: 'bravo', roles: ['admin'], ...topSecretClearance })
  const uncleared = await world.site.token({ roles: ['admin'] })
  for (const token of [foreign, uncleared]) {
    expect((await readResource(`fusion://runs/${run}`, token)).error?.code).toBe(-32_602)
    expect((await readResource(`fusion://runs/${run}/matches`, token)).document).toEqual(noItems)
  }
})

test('a revision with sessions reads them too, and a role without resources does not know the method', async () => {
  const port = world.site.port('resolution')
  const { headers } = await openMcpSession(port, world.admin)
  const body = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'fusion://runs' } }
  const { json } = await postMcp(port, body, { token: world.admin, headers })
  expect(json).toMatchObject({ result: { contents: [{ uri: 'fusion://runs', text: JSON.stringify(noItems) }] } })
  const elsewhere = await sendMcpRequest(world.site.port('consensus'), 'resources/list', {}, { token: world.admin })
  expect(elsewhere.json).toMatchObject({ error: { code: -32_601 } })
})

test('service-info counts them', async () => {
  const { json } = await world.site.request('resolution', { method: 'GET', path: '/service-info' })
  expect(json).toMatchObject({ resources_count: 4, mcp_path: '/agentspace' })
  const ofIngest = await world.site.request('ingest', { method: 'GET', path: '/service-info' })
  expect(ofIngest.json).toMatchObject({
    ...{ tools_count: 44, resources_count: 5, api_path: '/userspace', mcp_path: '/agentspace' },
    capabilities: [
      ...['dag-management', 'connection-management', 'workflow-orchestration', 'data-ingestion', 'pipeline-management'],
      ...['pipeline-scheduling', 'effect-engine'],
    ],
  })
})

test('the five of ingest are listed under the names of the interface document, and each is read', async () => {
  const at = (method: string, params: Readonly<Record<string, unknown>>, headers = {}) =>
    sendMcpRequest(world.site.port('ingest'), method, params, { token: world.admin, headers })
  const { result: listed } = (await at('resources/list', {})).json as { result: { resources: { uri: string }[] } }
  expect(listed.resources.map(({ uri }) => uri)).toEqual([
    'catalog://operators',
    'catalog://effects',
    'capabilities://workflow',
  ])
  const { result } = (await at('resources/templates/list', {})).json as {
    result: { resourceTemplates: { uriTemplate: string }[] }
  }
  expect(result.resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'templates://dags/{dag_type}',
    'templates://effects/{operator}',
  ])
  const read = async (uri: string) => {
    const { json } = await at('resources/read', { uri }, { 'mcp-name': uri })
    const answer = json as { result?: { contents: { text: string }[] }; error?: { code: number } }
    return answer.error ?? JSON.parse(answer.result?.contents[0]?.text ?? 'null')
  }
  const rest = async (path: string) =>
    (await world.site.request('ingest', { method: 'GET', path: `/userspace${path}`, token: world.admin })).json
  const catalog = await read('catalog://operators')
  const ofFile = await rest('/effect/schema/ingest_file')
  expect(catalog.operators).toContainEqual(ofFile)
  expect(catalog.ingest_patterns).toContainEqual(expect.objectContaining({ name: 'assembled' }))
  expect(await read('catalog://effects')).toEqual(await rest('/effect/schema'))
  expect(await read('templates://dags/assembled')).toEqual(await rest('/datapipeline/schema/assembled'))
  expect(await read('templates://effects/ingest_file')).toEqual(ofFile)
  expect(await read('capabilities://workflow')).toMatchObject({
    scheduler: 'embedded',
    packages: expect.arrayContaining([{ name: 'node', version: process.versions.node }]),
    operators: expect.arrayContaining(['ingest_file']),
    connection_types: expect.arrayContaining(['sqlite']),
  })
  for (const uri of ['templates://dags/none', 'templates://effects/none', 'catalog://none'])
    expect(await read(uri), uri).toMatchObject({ code: -32_602 })
})
