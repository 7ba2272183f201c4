// Tools without a path, paths without a tool, and tools of another surface: each is reached where it is declared alone.
import { expect, test } from 'vitest'
import { offeredResources } from '../../daemon/kernel/api/mcp-resources.ts'
import { deriveTools, toolOperations } from '../../daemon/kernel/api/mcp-tools.ts'
import { buildOpenapi } from '../../daemon/kernel/api/openapi.ts'
import type { Metrics } from '../../daemon/kernel/telemetry/metrics.ts'
import { echoRole } from '../support/echo/echo-role.ts'
import { jsonHeaders, startEchoServer } from '../support/echo/echo-server.ts'
import { callTool } from '../support/mcp/mcp-client.ts'
import { serveTools } from '../support/mcp/serve-tools.ts'

const token = 'alice.admin'
const uncounted: Metrics = { count: () => {}, set: () => {}, observe: () => {}, text: async () => '' }
const { operations } = echoRole(uncounted)

test('a tool without a path is served as a tool', async () => {
  const { port } = await serveTools()
  expect(await callTool(port, 'say', { text: 'hello' }, { token })).toMatchObject({
    structuredContent: { text: 'hello' },
  })
})

test.each(['confide', 'mumble'])(
  'the tool %s of the administrator’s chat is refused to AI clients, though admin has every permission',
  async (name) => {
    // This listener offers every tool: the refusal is that of the kernel.
    const { port } = await serveTools()
    const { isError, content } = await callTool(port, name, { text: 'hello' }, { token })
    expect(isError).toBe(true)
    expect(JSON.parse(content[0]?.text ?? '')).toMatchObject({ status: 404, code: 'not_found' })
  },
)

test('a path of an operation whose tool is private is served', async () => {
  const { request } = await startEchoServer()
  const answer = await request('POST /mumble', { ...jsonHeaders, authorization: `Bearer ${token}` }, '{"text":"a"}')
  expect(answer).toMatchObject({ status: 200, body: '{"text":"a"}' })
})

test('each surface lists its own tools', () => {
  const names = (surface: 'agentspace' | 'admin_chat') =>
    deriveTools(toolOperations(surface, operations)).map(({ name }) => name)
  expect(names('agentspace')).toEqual(['echo_edit', 'echo_say'])
  expect(names('admin_chat')).toEqual(['echo_confide', 'echo_mumble'])
})

test('the OpenAPI document lists paths alone', () => {
  const { paths } = buildOpenapi('echo', '1', 'Echoes.', operations) as { paths: Record<string, object> }
  const listed = JSON.stringify(paths)
  expect(Object.keys(paths)).toContain('/mumble')
  expect(Object.keys(paths['/echo/{id}'] ?? {})).toEqual(['get', 'post', 'delete', 'patch'])
  for (const name of ['say', 'confide']) expect(listed).not.toContain(`test.echo.${name}`)
})

test('a private operation cannot be a resource of AI clients', () => {
  const operation = operations.find(({ address }) => address === 'test.echo.confide')?.operation
  if (!operation) throw new Error('the echo role has no operation confide')
  const resource = { uri: 'test://a', name: 'a', description: 'a', operation }
  const deployment = { deployment_profile: 'single_cluster', settings: { values: new Map() } } as const
  expect(() => offeredResources({ role: { name: 'test' }, deployment }, [resource], operations)).toThrow(
    'names an operation of another surface',
  )
})
