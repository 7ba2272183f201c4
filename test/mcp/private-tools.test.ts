// Tools without a path, paths without a tool, and tools of another surface: each is reached where it is declared alone.
import { describe, expect, test } from 'vitest'
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

describe('a conversation that a role serves', () => {
  const converse = async (body: object, bearer = token) => {
    const { request } = await startEchoServer()
    const headers = { ...jsonHeaders, authorization: `Bearer ${bearer}` }
    return JSON.parse((await request('POST /converse', headers, JSON.stringify(body))).body)
  }

  test('performs a private tool for its caller, under the address of the tool and in the same trace', async () => {
    const { request } = await startEchoServer()
    const trace_id = '0af7651916cd43dd8448eb211c80319c'
    const headers = {
      ...jsonHeaders,
      authorization: `Bearer ${token}`,
      traceparent: `00-${trace_id}-b7ad6b7169203331-01`,
    }
    const { body } = await request('POST /converse', headers, '{"tool":"echo_report","text":"hello"}')
    expect(JSON.parse(body)).toMatchObject({
      listed: ['echo_report', 'echo_confide', 'echo_mumble'],
      body: { text: 'hello', subject: 'alice', address: 'test.echo.report', trace: { trace_id } },
    })
  })

  test('neither lists nor performs what its caller may not do', async () => {
    const listed = ['echo_confide', 'echo_mumble']
    expect(await converse({ tool: 'echo_report' }, 'bob.analyst')).toEqual({ listed, code: 'not_found' })
    expect(await converse({ tool: 'echo_confide', text: 'a' }, 'bob.analyst')).toEqual({ listed, body: { text: 'a' } })
  })

  test.each(['echo_say', 'echo_edit', 'echo_converse', '__proto__', ''])(
    'performs no other operation: %j',
    async (tool) => {
      expect(await converse({ tool })).toMatchObject({ code: 'not_found' })
    },
  )

  test('checks the input that a model has written', async () => {
    expect(await converse({ tool: 'echo_report', text: 7 })).toMatchObject({ code: 'invalid' })
  })
})

test('each surface lists its own tools', () => {
  const names = (surface: 'agentspace' | 'admin_chat') =>
    deriveTools(toolOperations(surface, operations)).map(({ name }) => name)
  expect(names('agentspace')).toEqual(['echo_edit', 'echo_say'])
  expect(names('admin_chat')).toEqual(['echo_report', 'echo_confide', 'echo_mumble'])
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
