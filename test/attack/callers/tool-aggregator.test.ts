// The role that uses the tools of all others: in the name of a caller, for what they offer as tools, and for nothing else.
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pinoLog } from '../../../adapters/host/log/pino-log.ts'
import { systemRandom } from '../../../adapters/host/random/system-random.ts'
import { roleAudienceUrn } from '../../../adapters/identity/offline/issuer.ts'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { mcpToolServices } from '../../../adapters/tools/mcp/connect-tools.ts'
import { openSiteIdentity } from '../../../daemon/boot/identity/site-identity.ts'
import { readProfile, resolveProfileSettings } from '../../../daemon/boot/profile.ts'
import { everyOperation, everyRole } from '../../../daemon/every-role.ts'
import { toolOperations } from '../../../daemon/kernel/api/mcp-tools.ts'
import { isDelegable } from '../../../daemon/kernel/identity/identity.ts'
import {
  type AddressedOperation,
  fillPath,
  hasBody,
  pathParameters,
} from '../../../daemon/kernel/operation/operation.ts'
import type { DeploymentProfile } from '../../../daemon/kernel/role/site.ts'
import type { ToolConnection } from '../../../daemon/kernel/tools/tool-service.ts'
import { toolAggregator } from '../../../daemon/role-calls.ts'
import { roles as everyOutline } from '../../../daemon/roles.ts'
import { signAsSite } from '../../support/delegation/sign-claims.ts'
import { serveTools } from '../../support/mcp/serve-tools.ts'
import { createTestSite, type TestSite } from '../../support/site/test-site.ts'

const roles = ['resolution', 'consensus', 'intelligence']
const limits = { answer_ms: 10_000, answer_bytes: 16_777_216, depth: 128, tools: 2_000 }
const services = mcpToolServices({ about: { name: 'test', version: '1' }, limits, rule: addressRule(['127.0.0.0/8']) })
const toolsOf = (role: string) =>
  toolOperations('agentspace', everyOperation).filter((operation) => operation.role === role)

async function startSite(deployment_profile: string, sections: Record<string, Record<string, unknown>> = {}) {
  const world = await createTestSite({
    profile: {
      platform: { roles: ['site', ...roles], deployment_profile },
      ...Object.fromEntries(roles.map((role) => [role, { port: 0, ...sections[role] }])),
    },
  })
  await world.start()
  return world
}

/** What the site issues to the aggregator for a request of Pat, an administrator. */
const tokenFor = (world: TestSite, role: string, claims: Readonly<Record<string, unknown>> = {}) =>
  signAsSite(world, {
    ...{ aud: roleAudienceUrn(world.name, role), roles: ['admin'], client_id: `role:${toolAggregator}` },
    act: { sub: `role:${toolAggregator}` },
    clearance: { level: 'TOP_SECRET' },
    ...claims,
  })

function connect(world: TestSite, role: string, token: string): Promise<ToolConnection> {
  return services.connect({ url: new URL('/agentspace', world.url(role)), token: async () => token })
}
const codeOf = (answer: Promise<unknown>) => answer.then(() => 'accepted').catch(({ code }: { code: string }) => code)

/** The answer to a request of the operation by its path, with ids that do not exist. */
async function requestByPath(world: TestSite, { role, operation }: AddressedOperation, token: string) {
  const ids = Object.fromEntries(pathParameters(operation.path).map((name) => [name, 'none']))
  const body = hasBody(operation.method) ? {} : undefined
  const { status, text } = await world.call(role, operation.method, fillPath(operation, ids), body, { token })
  return { status, text }
}

describe('where roles offer tools', () => {
  let world: TestSite
  beforeAll(async () => {
    world = await startSite('single_cluster')
  })
  afterAll(async () => {
    await world?.end()
    expect(world?.loggedErrors).toEqual([])
  })

  test('it calls a tool in the name of the caller, who has done it then', async () => {
    const connection = await connect(world, 'consensus', await tokenFor(world, 'consensus'))
    const input = { lens_id: 'l', lens_version: '1', policy: { m: 1, n: 1 }, classification: 'UNCLASSIFIED' }
    const called = await connection.callTool({ name: 'consensus_session_create', input, timeout_ms: 10_000 })
    await connection.close()
    expect(called).toMatchObject({ is_error: false, structured_content: { created_by: 'pat' } })
    const pat = await world.as({ subject: 'pat', roles: ['admin'] })
    const trail = await world.call('consensus', 'GET', '/api/v2/audit', undefined, { token: pat.token })
    expect(JSON.stringify(trail.json)).toContain('"subject":"pat"')
  })

  test.each(roles)('the list of %s is what the caller may use, without administration', async (role) => {
    const names = async (claims: Readonly<Record<string, unknown>>) => {
      const connection = await connect(world, role, await tokenFor(world, role, claims))
      const tools = await connection.listTools()
      await connection.close()
      return tools.map(({ name }) => name).sort()
    }
    const delegable = toolsOf(role).filter(({ operation }) => isDelegable(operation.allow))
    expect(await names({})).toEqual(delegable.map(({ operation }) => operation.tool).sort())
    expect((await names({ roles: ['auditor'] })).length).toBeLessThan(delegable.length)
  })

  test.each(roles)('of %s it reaches the tools and documents, and no other operation', async (role) => {
    const token = await tokenFor(world, role)
    const documents = everyRole.find(({ name }) => name === role)?.resources ?? []
    const open = [...toolsOf(role), ...documents].map(({ operation }) => operation)
    const closed = everyOperation.filter(
      ({ operation, role: of }) =>
        of === role && operation.path !== undefined && operation.allow !== 'public' && !open.includes(operation),
    )
    expect(closed.length).toBeGreaterThan(5)
    for (const target of closed) {
      const { status, text } = await requestByPath(world, target, token)
      expect([target.address, status], text).toEqual([target.address, 403])
      expect(text).toMatch(/does not request|no role may use|only roles of the site/)
    }
    for (const target of toolsOf(role).filter(({ operation }) => operation.method === 'GET')) {
      const { status } = await requestByPath(world, target, token)
      expect([target.address, status === 403 && isDelegable(target.operation.allow)]).toEqual([target.address, false])
    }
  })

  test('nothing of the site role is reached, whatever the token says', async () => {
    const token = await tokenFor(world, 'site')
    for (const at of ['/api/v2/site/channel', '/api/v2/site/key', '/api/v2/site/peer'])
      expect((await world.call('site', 'GET', at, undefined, { token })).status).toBe(403)
    expect((await world.call('site', 'POST', '/agentspace', {}, { token })).status).toBe(404)
  })

  test.each([
    ['another role', { act: { sub: 'role:proxy' } }],
    ['another role, for which it acts', { act: { sub: 'role:proxy', act: { sub: `role:${toolAggregator}` } } }],
    ['a client, for which it acts', { act: { sub: 'svc:portal', act: { sub: `role:${toolAggregator}` } } }],
    ['a name that ends like its own', { act: { sub: `abcd:${toolAggregator}`, act: { sub: 'role:proxy' } } }],
  ])('%s reaches no tool', async (_, claims) => {
    for (const role of roles) {
      const token = await tokenFor(world, role, claims)
      expect(await codeOf(connect(world, role, token))).toBe('forbidden')
      const [tool] = toolsOf(role).filter(({ operation }) => operation.method === 'GET')
      expect(tool && (await requestByPath(world, tool, token)).status).toBe(403)
    }
  })

  test('in its own name it reaches no tool, over the socket neither', async () => {
    const own = { sub: `role:${toolAggregator}`, tenant_id: '*', roles: ['service'], act: undefined }
    for (const role of roles) {
      const token = await tokenFor(world, role, own)
      expect(await codeOf(connect(world, role, token))).toBe('forbidden')
      for (const tool of toolsOf(role)) expect((await requestByPath(world, tool, token)).status).toBe(403)
    }
  })

  test('a token for one role counts at no other', async () => {
    const token = await tokenFor(world, 'resolution')
    expect(await codeOf(connect(world, 'consensus', token))).toBe('unauthenticated')
  })
})

test('an administrative tool is in no list that it reads, and refused when it is named', async () => {
  const served = await serveTools()
  const seal = { tool: 'seal', allow: 'key:read' } as const
  served.changeTools(([tool]) => (tool ? [tool, { ...tool, operation: { ...tool.operation, ...seal } }] : []))
  const use = async (token: string) => {
    const url = new URL(`http://127.0.0.1:${served.port}/agentspace`)
    const connection = await services.connect({ url, token: async () => token })
    const listed = (await connection.listTools()).map(({ name }) => name)
    const called = await connection.callTool({ name: 'seal', input: {}, timeout_ms: 10_000 })
    await connection.close()
    return { isListed: listed.includes('seal'), count: listed.length, text: JSON.stringify(called.content) }
  }
  const direct = await use('alice.admin')
  expect(direct).toMatchObject({ isListed: true, count: 2, text: expect.not.stringContaining('forbidden') })
  const acting = await use(`alice.admin~${toolAggregator}`)
  expect(acting).toMatchObject({ isListed: false, count: 1, text: expect.stringContaining('no role may use key:read') })
})

describe('the site issues it tokens for the roles that offer tools, and no other', () => {
  /** The roles for which each role gets tokens in the name of a caller, by the identity of a site that does not run. */
  async function readTargets(profile: DeploymentProfile, sections: Record<string, Record<string, unknown>>) {
    const { folder, name, tenant, clock, end } = await createTestSite({
      profile: { platform: { roles: ['site', ...roles], deployment_profile: profile }, ...sections },
    })
    try {
      const at = path.dirname(folder.profile)
      const resolved = resolveProfileSettings(everyOutline, readProfile(folder.profile), {}, {}, at)
      expect(resolved.problems).toEqual([])
      const labels = { policy: 'SITE', levels: ['UNCLASSIFIED'] }
      const identity = await openSiteIdentity({
        ...{ folder, resolved, random: systemRandom(), now: clock.now, monotonic: clock.monotonic },
        site: { name, tenant_id: tenant, deployment_profile: profile, labels, default_level: 'UNCLASSIFIED' },
        log: pinoLog({ level: 'error', to: 'stderr', base: { site: name, role: 'site' } }),
      })
      const { targetsOf } = identity.delegations()
      // Each role has its audit chain anchored there; nothing of that can be done in the name of a caller.
      expect(targetsOf('proxy').roles).toEqual(new Set(['site']))
      const targets = [...targetsOf(toolAggregator).roles].sort()
      expect(targets).toContain('site')
      return targets.filter((role) => role !== 'site')
    } finally {
      await end()
    }
  }

  const all = { consensus: { mcp_enabled: true }, resolution: { mcp: { enabled: true } } }
  test.each<[DeploymentProfile, Record<string, Record<string, unknown>>, string[]]>([
    ['single_cluster', {}, ['consensus', 'ingest', 'intelligence', 'resolution']],
    ['single_cluster', { resolution: { mcp_enabled: false } }, ['consensus', 'ingest', 'intelligence']],
    ['customer_onprem', {}, ['ingest', 'intelligence', 'resolution']],
    ['coalition_federated', all, ['ingest', 'intelligence', 'resolution']],
    ['classified_airgapped', {}, []],
    ['classified_airgapped', all, ['resolution']],
  ])('in %s with %j', async (profile, sections, expected) => {
    expect(await readTargets(profile, sections)).toEqual(expected)
  })
})

describe.each([
  ['outside profile A, of consensus', 'customer_onprem', 'consensus', {}],
  ['of consensus that is set to offer tools outside profile A', 'customer_onprem', 'consensus', { mcp_enabled: true }],
  ['of a role whose tools are off', 'single_cluster', 'resolution', { mcp_enabled: false }],
])('%s', (_, profile, role, section) => {
  test('it reaches neither the tools nor their operations', async () => {
    const world = await startSite(profile, { [role]: section })
    try {
      const token = await tokenFor(world, role)
      expect((await world.call(role, 'POST', '/agentspace', {}, { token })).status).toBe(404)
      for (const tool of toolsOf(role)) {
        if (tool.operation.path === undefined) continue
        expect([tool.address, (await requestByPath(world, tool, token)).status]).toEqual([tool.address, 403])
      }
      const [other = ''] = roles.filter((each) => each !== role)
      expect(await codeOf(connect(world, other, await tokenFor(world, other)).then((each) => each.close()))).toBe(
        'accepted',
      )
    } finally {
      await world.end()
    }
  })
})
