// Walks every tool as the REST walk does every operation: rightly once, and wrongly in each way that a tool can be; a new
// tool is covered by the sample of its operation.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { everyOperation } from '../../daemon/every-role.ts'
import { deriveTools, type McpTool, toolOperations } from '../../daemon/kernel/api/mcp-tools.ts'
import { problem } from '../../daemon/kernel/error/problem.ts'
import { type AnyOperation, isRouted, pathParameters } from '../../daemon/kernel/operation/operation.ts'
import { expectProblem } from '../support/every-operation/expect-problem.ts'
import { type OperationFixture, topSecretClearance } from '../support/every-operation/operation-fixture.ts'
import type { OperationSample } from '../support/every-operation/operation-samples.ts'
import { readStoredState } from '../support/every-operation/read-stored-state.ts'
import { createSampledFixture, roleOf } from '../support/every-operation/sampled-fixture.ts'
import { listInputFields, sendOperation } from '../support/every-operation/send-operation.ts'
import { callTool, sendMcpRequest, type ToolCallResult } from '../support/mcp/mcp-client.ts'

const tools = deriveTools(toolOperations('agentspace', everyOperation))
const all = tools.map((tool) => [tool.name, tool] as const)
const permissions = [...new Set(tools.map(({ target }) => target.operation.allow))]

let world: OperationFixture
let before: string[]
let inputs: ReadonlyMap<string, OperationSample>
beforeAll(async () => {
  ;({ world, inputs, before } = await createSampledFixture(
    permissions,
    tools.map(({ target }) => target.address),
  ))
})
afterAll(() => world?.site.close())

const sampleOf = ({ target }: McpTool): OperationSample => inputs.get(target.address) ?? { input: {} }
const isTenants = (tool: McpTool) => sampleOf(tool).isTenants ?? pathParameters(tool.target.operation.path).length > 0

/** Tools that answer the same to every tenant. */
const ofService = new Set(['effect_schema', 'workflow_health', 'connection_schema'])
const page_rule = 'a tool without path parameters returns a page (items), or has isTenants in its sample'
const port = (tool: McpTool) => world.site.port(tool.target.role)

function callAs(tool: McpTool, token: string, more: Readonly<Record<string, unknown>> = {}): Promise<ToolCallResult> {
  return callTool(port(tool), tool.name, { ...sampleOf(tool).input, ...more }, { token })
}

/** The problem document in a tool error, as it would have been the body over REST. */
function parseProblem({ isError, content, structuredContent }: ToolCallResult, operation: AnyOperation) {
  expect(isError, JSON.stringify(content)).toBe(true)
  expect(structuredContent).toBeUndefined()
  const read = problem.parse(JSON.parse(content[0]?.text ?? ''))
  expect(['invalid', 'forbidden', 'not_found', 'not_your_tenant', ...operation.errors]).toContain(read.code)
  return read
}

describe('refused, with nothing stored', () => {
  test.each(all)('%s without a token, or with one that is none', async (name, tool) => {
    for (const token of [undefined, 'garbage', `${world.admin}x`]) {
      const answer = await sendMcpRequest(
        port(tool),
        'tools/call',
        { name, arguments: sampleOf(tool).input },
        { token },
      )
      expect(expectProblem(answer, [401]).code).toBe('unauthenticated')
      expect(answer.headers['www-authenticate']).toMatch(
        /resource_metadata="http:\/\/127\.0\.0\.1:\d+\/\.well-known\/oauth-protected-resource\/agentspace"$/,
      )
    }
  })

  test.each(all)('%s with every permission but its own, and it is not in the list', async (name, tool) => {
    const { operation } = tool.target
    const token = await world.site.token({ roles: [roleOf('without', operation.allow)], ...topSecretClearance })
    expect(parseProblem(await callAs(tool, token), operation)).toMatchObject({ code: 'forbidden', status: 403 })
    const listed = await sendMcpRequest(port(tool), 'tools/list', {}, { token })
    expect(listNames(listed.json)).not.toContain(name)
  })

  test.each(all)('%s by another tenant', async (_, tool) => {
    const { operation } = tool.target
    const token = await world.site.token({
      sub: 'mallory',
      tenant_id: 'bravo',
      roles: ['admin'],
      ...topSecretClearance,
    })
    const result = isTenants(tool) || operation.method === 'GET' ? await callAs(tool, token) : undefined
    if (result && isTenants(tool)) {
      const code = operation.method === 'GET' ? 'not_found' : 'not_your_tenant'
      expect(parseProblem(result, operation).code).toBe(code)
    } else if (result && !ofService.has(tool.name))
      expect(result.structuredContent, page_rule).toMatchObject({ items: [] })
  })

  test.each(all)('%s without the clearance', async (_, tool) => {
    const token = await world.site.token({ sub: 'mallory', roles: ['admin'] })
    if (isTenants(tool)) {
      expect(parseProblem(await callAs(tool, token, sampleOf(tool).uncleared), tool.target.operation).code).toBe(
        'not_found',
      )
    } else if (tool.target.operation.method === 'GET' && !ofService.has(tool.name)) {
      expect((await callAs(tool, token)).structuredContent, page_rule).toMatchObject({ items: [] })
    }
  })

  test.each(all)('%s with fields that it does not know, or of the wrong type', async (_, tool) => {
    const { operation } = tool.target
    expect(parseProblem(await callAs(tool, world.admin, { surprise: 1 }), operation).errors[0]?.path).toBe('surprise')
    for (const name of Object.keys(listInputFields(operation))) {
      for (const value of [[[]], { $ne: '' }, null]) {
        // null removes an optional field of some operations.
        if (value === null && operation.input.shape[name]?.safeParse(value).success) continue
        const read = parseProblem(await callAs(tool, world.admin, { [name]: value }), operation)
        expect(read.code).toBe('invalid')
        expect(read.errors.some(({ path }) => path.startsWith(name))).toBe(true)
      }
    }
  })

  test.each(all)('%s with arguments other than an object', async (name, tool) => {
    for (const args of [[], 'text', 1, null]) {
      const { json } = await sendMcpRequest(port(tool), 'tools/call', { name, arguments: args }, { token: world.admin })
      expect(json).toMatchObject({ error: { code: -32_602 } })
    }
  })

  test('left everything as it was', async () => {
    expect(await readStoredState(world)).toEqual(before)
  })
})

describe('the list', () => {
  const rolesWithTools = [...new Set(tools.map(({ target }) => target.role))]

  test.each(rolesWithTools)('of %s holds for an admin every tool there is, in one order', async (role) => {
    const own = tools.filter(({ target }) => target.role === role)
    const lists = await Promise.all(
      [1, 2].map(() => sendMcpRequest(world.site.port(role), 'tools/list', {}, { token: world.admin })),
    )
    // Those of other services, which the gateway has too, have two underscores in their names.
    const listed = lists.map(({ json }) => listNames(json))
    for (const names of listed)
      expect(names.filter((name) => role !== 'gateway' || !name.includes('__'))).toEqual(own.map(({ name }) => name))
    const info = await world.site.request(role, { method: 'GET', path: '/service-info' })
    expect(info.json).toMatchObject({ mcp_path: '/agentspace', tools_count: listed[0]?.length })
  })

  test('is empty for a caller without permissions', async () => {
    const token = await world.site.token({ roles: ['nobody'] })
    expect(listNames((await sendMcpRequest(world.site.port('consensus'), 'tools/list', {}, { token })).json)).toEqual(
      [],
    )
  })
})

describe('done', () => {
  test.each(all)('%s with its own permission alone gives what its schema says, as REST does', async (_, tool) => {
    const { operation } = tool.target
    const token = await world.site.token({ roles: [roleOf('only', operation.allow)], ...topSecretClearance })
    const result = await callAs(tool, token)
    expect(result.isError, result.content[0]?.text).toBeUndefined()
    operation.output.parse(result.structuredContent)
    expect(JSON.parse(result.content[0]?.text ?? '')).toEqual(result.structuredContent)
    if (operation.method !== 'GET' || !isRouted(tool.target)) return
    // A worker may do something between the two.
    await vi.waitFor(async () => {
      const { structuredContent } = await callAs(tool, token)
      const twin = await sendOperation(world, tool.target, sampleOf(tool).input, { token })
      expect(structuredContent).toEqual(twin.json)
    }, 60_000)
  })
})

function listNames(json: unknown): string[] {
  return (json as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name)
}
