// The tools of a site's roles through the gateway: listed by rights, performed in the name of the caller, held to guardrails.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import type { ToolConnection } from '../../../daemon/kernel/tools/tool-service.ts'
import { buildSignalInput } from '../../support/every-operation/intelligence-objects.ts'
import { sendMcpRequest } from '../../support/mcp/mcp-client.ts'
import { createTestSite, type TestSite } from '../../support/site/test-site.ts'

const limits = { answer_ms: 10_000, answer_bytes: 16_777_216, depth: 128, tools: 2_000 }
const services = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule: addressRule(['127.0.0.0/8']) })
const roles = ['consensus', 'intelligence', 'ingest', 'resolution', 'gateway']

async function startSite(deployment_profile: string, sections: Record<string, Record<string, unknown>> = {}) {
  const world = await createTestSite({
    profile: {
      platform: { roles: ['site', ...roles], deployment_profile },
      ...Object.fromEntries(roles.map((role) => [role, { port: 0 }])),
      ...sections,
    },
  })
  await world.start()
  return world
}

type Person = { readonly subject: string; readonly roles: string[]; readonly level?: string }

async function connect(
  world: TestSite,
  { subject, roles: held, level = 'TOP_SECRET' }: Person,
): Promise<ToolConnection> {
  const { token } = await world.as({ subject, roles: held, clearance: { level } })
  return await services.connect({ url: new URL('/agentspace', world.url('gateway')), token: async () => token })
}

async function withTools<T>(world: TestSite, person: Person, use: (tools: ToolConnection) => Promise<T>): Promise<T> {
  const connection = await connect(world, person)
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

const call = (world: TestSite, person: Person, name: string, input: Record<string, unknown>) =>
  withTools(world, person, (tools) => tools.callTool({ name, input, timeout_ms: 10_000 }))
const namesFor = (world: TestSite, person: Person) =>
  withTools(world, person, async (tools) => (await tools.listTools()).map(({ name }) => name))

const ann: Person = { subject: 'ann', roles: ['analyst'] }
const pat: Person = { subject: 'pat', roles: ['admin'] }
const signal = (title: string, changes: Record<string, unknown> = {}) => ({
  ...buildSignalInput({ classification: 'UNCLASSIFIED' }),
  title,
  ...changes,
})

describe('in a cluster of one site', () => {
  let world: TestSite
  beforeAll(async () => {
    world = await startSite('single_cluster', {
      guardrails: {
        rules: [
          { name: 'no-secrets', kinds: ['tool'], deny_patterns: ['(?i)project\\s+x'] },
          { name: 'bob-reads', subjects: ['bob'], tools: ['*__create_signal'], deny: true },
          { name: 'low-eve', subjects: ['eve'], label_ceiling: 'UNCLASSIFIED' },
          { name: 'slow-sam', subjects: ['sam'], calls_per_minute: 2 },
        ],
      },
    })
  })
  afterAll(async () => {
    await world?.end()
    expect(world?.loggedErrors).toEqual([])
  })

  test('every service has its tools, under its name', async () => {
    const names = await namesFor(world, pat)
    for (const name of [
      ...['consensus-service__consensus_session_create', 'intelligence-service__signal_list'],
      ...['pipeline-service__datapipeline_pause', 'resolution-service__fusion_run_start'],
    ])
      expect(names).toContain(name)
    // The tools of the gateway itself have no prefix.
    const prefixed = names.filter((name) => name !== 'gateway_workflow_hints')
    expect(prefixed).toHaveLength(names.length - 1)
    expect(prefixed.every((name) => /^[a-z-]+__[a-z0-9_]+$/.test(name))).toBe(true)
    expect(new Set(names).size).toBe(names.length)
  })

  test('at the documented host too', async () => {
    const { token } = await world.as({ ...pat, clearance: { level: 'TOP_SECRET' } })
    const port = Number(new URL(world.url('gateway')).port)
    const listed = await sendMcpRequest(
      port,
      'tools/list',
      {},
      { token, headers: { host: 'agentspace.cluster.local' } },
    )
    expect(listed.status).toBe(200)
  })

  test('a caller sees those that it may use', async () => {
    const [analyst, auditor] = [
      await namesFor(world, ann),
      await namesFor(world, { subject: 'al', roles: ['auditor'] }),
    ]
    expect(analyst).toContain('intelligence-service__create_signal')
    expect(auditor).not.toContain('intelligence-service__create_signal')
    expect(auditor).toContain('intelligence-service__signal_list')
  })

  test('a tool has the definition that its own service gives it', async () => {
    const { token } = await world.as({ ...pat, clearance: { level: 'TOP_SECRET' } })
    const direct = await services.connect({
      url: new URL('/agentspace', world.url('intelligence')),
      token: async () => token,
    })
    const own = (await direct.listTools()).find(({ name }) => name === 'create_signal')
    await direct.close()
    const offered = await withTools(world, pat, async (tools) =>
      (await tools.listTools()).find(({ name }) => name === 'intelligence-service__create_signal'),
    )
    expect({ ...offered, name: 'create_signal' }).toEqual(own)
  })

  test('a tool acts in the name of its caller, and its answer is that of the service', async () => {
    const created = await call(world, ann, 'intelligence-service__create_signal', signal('A ship'))
    expect(created, JSON.stringify(created.content)).toMatchObject({
      is_error: false,
      structured_content: { title: 'A ship' },
    })
    const listed = await call(world, ann, 'intelligence-service__signal_list', {})
    expect(JSON.stringify(listed.structured_content)).toContain('A ship')
  })

  test('documents of roles are listed under their service, and read in the name of the caller', async () => {
    const read = (person: Person, uri: string) =>
      withTools(world, person, (tools) => tools.readResource({ uri, timeout_ms: 10_000 }))
    const listed = await withTools(world, pat, (tools) => tools.listResources())
    expect(listed.map(({ uri }) => uri)).toEqual(
      expect.arrayContaining([
        ...[
          'gateway://resolution-service/fusion://runs',
          'gateway://resolution-service/fusion://runs/{run_id}/matches',
        ],
        ...['gateway://pipeline-service/catalog://operators', 'gateway://pipeline-service/templates://dags/{dag_type}'],
      ]),
    )
    const runs = 'gateway://resolution-service/fusion://runs'
    expect(await read(pat, runs)).toEqual([
      { uri: runs, mimeType: 'application/json', text: expect.stringContaining('"items":[]') },
    ])
    expect(await read(pat, `${runs}/none/matches`)).toMatchObject([{ text: expect.stringContaining('"items":[]') }])
    expect(await read(pat, `${runs}/none`)).toBeUndefined()
    const operators = await read(pat, 'gateway://pipeline-service/catalog://operators')
    expect(operators).toMatchObject([{ text: expect.stringContaining('ingest_file') }])
    const stranger: Person = { subject: 'nick', roles: ['nobody'] }
    expect(await withTools(world, stranger, (tools) => tools.listResources())).toEqual([])
    expect(await read(stranger, runs)).toBeUndefined()
  })

  test('a tool without a path is performed too', async () => {
    const paused = await call(world, pat, 'pipeline-service__datapipeline_pause', { uid: 'none' })
    expect([paused.is_error, JSON.stringify(paused.content)]).toEqual([true, expect.stringContaining('not_found')])
  })

  test('what is wrong with the input is said by the service', async () => {
    const answer = await call(world, ann, 'intelligence-service__create_signal', { title: 7 })
    expect(answer.is_error).toBe(true)
    expect(JSON.stringify(answer.content)).toMatch(/signal_type|title/)
  })

  describe('guardrails', () => {
    const refusalOf = async (person: Person, name: string, input: Record<string, unknown>) => {
      const { is_error, content } = await call(world, person, name, input)
      return is_error ? JSON.stringify(content) : 'answered'
    }

    test('refuse a text, a tool and a rate, each by its name', async () => {
      const tool = 'intelligence-service__create_signal'
      expect(await refusalOf(ann, tool, signal('About Project  X'))).toContain('guardrail no-secrets')
      expect(await refusalOf({ ...ann, subject: 'bob' }, tool, signal('A'))).toContain('guardrail bob-reads')
      const list = 'intelligence-service__signal_list'
      expect(await refusalOf({ ...ann, subject: 'bob' }, list, {})).toBe('answered')
      const sam = { ...ann, subject: 'sam' }
      const answers = [await refusalOf(sam, list, {}), await refusalOf(sam, list, {}), await refusalOf(sam, list, {})]
      expect(answers).toEqual(['answered', 'answered', expect.stringContaining('guardrail slow-sam')])
    })

    test('keep data above a ceiling from a call, whose caller is cleared for it', async () => {
      const secret = await call(
        world,
        ann,
        'intelligence-service__create_signal',
        signal('Deep', { classification: 'SECRET' }),
      )
      expect(secret.is_error, JSON.stringify(secret.content)).toBe(false)
      const seen = async (person: Person) =>
        JSON.stringify((await call(world, person, 'intelligence-service__signal_list', {})).structured_content)
      expect(await seen(ann)).toContain('Deep')
      expect(await seen({ ...ann, subject: 'eve' })).not.toContain('Deep')
      expect(await seen({ ...ann, subject: 'eve' })).toContain('A ship')
    })

    test('are explained before a call', async () => {
      const check = async (given: Record<string, unknown>) => {
        const { token } = await world.as({ subject: 'op', roles: ['operator'] })
        const body = { kind: 'tool', tool: 'intelligence-service__create_signal', ...given }
        const { json } = await world.call('gateway', 'POST', '/api/v2/gateway/guardrail/check', body, { token })
        return json
      }
      expect(await check({ subject: 'ann' })).toMatchObject({ outcome: 'allowed', applying: ['no-secrets'] })
      expect(await check({ subject: 'bob' })).toMatchObject({ outcome: 'refused', guardrail: 'bob-reads' })
      expect(await check({ subject: 'ann', text: 'project x' })).toMatchObject({ guardrail: 'no-secrets' })
      expect(await check({ subject: 'eve' })).toMatchObject({ outcome: 'allowed', ceiling: 'UNCLASSIFIED' })
      const counts = [{ guardrail: 'slow-sam', limit: 2, used: 2, window_s: 60 }]
      expect(await check({ subject: 'sam' })).toMatchObject({ outcome: 'refused', guardrail: 'slow-sam', counts })
      expect(await check({ subject: 'sim' })).toMatchObject({ outcome: 'allowed', counts: [] })
      expect(await check({ subject: 'ann', tool: 'create_signal' })).toMatchObject({ status: 422 })
    })

    test('are audited with their name and the tool', async () => {
      const { token } = await world.as({ subject: 'al', roles: ['auditor'], clearance: { level: 'TOP_SECRET' } })
      const trail = await world.call('gateway', 'GET', '/api/v2/gateway/audit?limit=500', undefined, { token })
      expect(JSON.stringify(trail.json)).toMatch(/"guardrail":"bob-reads"/)
    })
  })
})

test('outside a cluster of one site the tools of consensus are never offered', async () => {
  const world = await startSite('customer_onprem')
  const names = await namesFor(world, pat)
  await world.end()
  expect(names.filter((name) => name.startsWith('consensus-service'))).toEqual([])
  expect(names).toContain('intelligence-service__signal_list')
})

test('in profile D the gateway offers tools only where it is enabled', async () => {
  const world = await startSite('classified_airgapped')
  const { token } = await world.as({ ...pat, clearance: { level: 'TOP_SECRET' } })
  const answer = await world.call('gateway', 'POST', '/agentspace', {}, { token })
  await world.end()
  expect(answer.status).toBe(404)
})
