// Service information in each deployment profile, metrics, and the profiles in which the role refuses to start.
import { describe, expect, onTestFinished, test } from 'vitest'
import { product } from '../../../adapters/platform/product/product.ts'
import { serve } from '../../../daemon/boot/serve.ts'
import { everyOperation } from '../../../daemon/every-role.ts'
import { ProfileError } from '../../../daemon/kernel/settings/profile-error.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import {
  createTestSite,
  startTestSite,
  type TestSite,
  type TestSiteOptions,
  waitUntil,
} from '../../support/site/test-site.ts'
import {
  buildOpinionInput,
  createOperator,
  openSession,
  startConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'

const consensus = everyOperation.filter(({ role }) => role === 'consensus')
const mcpRoutes = [
  ['POST', '/agentspace'],
  ['GET', '/agentspace'],
  ['DELETE', '/agentspace'],
  ['GET', '/.well-known/oauth-protected-resource/agentspace'],
  ['GET', '/.well-known/oauth-protected-resource'],
] as const

async function endAfterTest(making: Promise<TestSite>): Promise<TestSite> {
  const world = await making
  onTestFinished(() => world.end())
  return world
}

const profiles = [
  { template: 'single-cluster', deployment_profile: 'single_cluster', isInside: false, hasTools: true },
  { template: 'multi-tenant-cloud', deployment_profile: 'multi_tenant_cloud', isInside: false, hasTools: true },
  { template: 'customer-onprem', deployment_profile: 'customer_onprem', isInside: false, hasTools: false },
  { template: 'coalition-federated', deployment_profile: 'coalition_federated', isInside: true, hasTools: false },
  { template: 'classified-airgapped', deployment_profile: 'classified_airgapped', isInside: true, hasTools: false },
]
const tools_count = consensus.filter(({ operation }) => operation.tool).length

describe.each(profiles)('in $deployment_profile', ({ template, deployment_profile, isInside, hasTools }) => {
  test('service-info has exactly the documented fields, without a token, at both places', async () => {
    const world = await endAfterTest(startTestSite({ template }))
    const expected = {
      name: 'consensus-service',
      version: product.version,
      description: expect.any(String),
      health_path: '/health',
      api_path: '/api/v2',
      ...(hasTools ? { mcp_path: '/agentspace', tools_count } : { tools_count: 0 }),
      resources_count: 0,
      capabilities: [
        'consensus-session',
        'machine-dissent',
        'federation-contribution',
        'spec-28-combiner',
        'spec-29-quorum',
        'spec-30-dissent',
      ],
      deployment_profile,
      supported_combination_methods: ['weighted_average', 'dempster_shafer'],
      supported_transports: ['filedrop'],
    }
    for (const at of ['/service-info', '/api/v2/service-info']) {
      expect((await world.call('consensus', 'GET', at)).json).toEqual(expected)
    }
  })

  test(hasTools ? 'tools want a token' : 'nothing is served where tools would be', async () => {
    const world = await endAfterTest(startTestSite({ template }))
    const metadata = '/.well-known/oauth-protected-resource'
    for (const [method, at] of mcpRoutes) {
      const { status, json } = await world.call('consensus', method, at)
      expect([at, status]).toEqual([at, hasTools ? (at.startsWith(metadata) ? 200 : 401) : 404])
      if (!hasTools) expect(json).toMatchObject({ code: 'not_found', detail: 'nothing is served at this path' })
    }
    expect((await world.call('site', 'POST', '/agentspace')).status).toBe(404)
  })

  test(isInside ? 'metrics stay inside' : 'metrics answer callers with the permission', async () => {
    const world = await endAfterTest(startTestSite({ template }))
    const operator = await createOperator(world)
    const seen = []
    for (const at of ['/metrics', '/api/v2/metrics']) {
      seen.push((await world.call('consensus', 'GET', at, undefined, operator)).status)
    }
    expect(seen).toEqual(isInside ? [404, 404] : [200, 200])
    expect((await world.call('consensus', 'GET', '/api/v2/metrics')).status).toBe(isInside ? 404 : 401)
  })
})

test('metrics have the documented names and labels, and count each entry into a state once', async () => {
  const world = await endAfterTest(startConsensusSite({ contributors: ['c1', 'c2', 'c3'] }))
  const person = await createOperator(world)
  // The clock stands still: events of the same millisecond must not be counted twice.
  const agreed = await openSession(person, { m: 3, n: 3 })
  for (const who of ['c1', 'c2', 'c3']) await person.ok(contribute, { id: agreed.id, ...buildOpinionInput(who, 0.9) })
  const torn = await openSession(person, { m: 2, n: 3, combination_method: 'dempster_shafer' })
  for (const [who, score] of Object.entries({ c1: 0.1, c2: 0.9, c3: 0.2 })) {
    await person.ok(contribute, { id: torn.id, ...buildOpinionInput(who, score, [0.9, 0.9]) })
  }
  await waitUntilDelivered(person, torn.id)
  await person.ok(resolve, { id: torn.id })
  await waitUntilDelivered(person, torn.id)
  const late = await openSession(person, { m: 2, n: 2, deadline: world.clock.in(60_000) })
  world.clock.advance(60_000)
  world.wakeWorker('consensus', 'deadlines')
  await waitUntil(async () => (await person.ok(get, { id: late.id })).state === 'IN_CONFLICT')
  await waitUntilDelivered(person, late.id)
  const { text } = await world.call('consensus', 'GET', '/api/v2/metrics', undefined, person)
  const lines = text.split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      '# TYPE consensus_session_total counter',
      'consensus_session_total{state="PROPOSED"} 3',
      'consensus_session_total{state="PENDING_QUORUM"} 2',
      'consensus_session_total{state="RATIFIED"} 1',
      'consensus_session_total{state="IN_CONFLICT"} 2',
      '# TYPE consensus_session_active gauge',
      'consensus_session_active{state="PROPOSED"} 0',
      'consensus_session_active{state="RATIFIED"} 1',
      'consensus_session_active{state="IN_CONFLICT"} 2',
      'consensus_session_active{state="WITHDRAWN"} 0',
      '# TYPE consensus_combiner_seconds histogram',
      'consensus_combiner_seconds_count{method="weighted_average"} 4',
      'consensus_combiner_seconds_count{method="dempster_shafer"} 4',
      '# TYPE consensus_dissent_total counter',
      'consensus_dissent_total{lens_id="all"} 3',
      '# TYPE federation_contribution_total counter',
    ]),
  )
})

test('health tells its dependencies to those with a token alone', async () => {
  const world = await endAfterTest(startTestSite())
  expect((await world.call('consensus', 'GET', '/health')).json).toEqual({ status: 'ok', service: 'consensus-service' })
  const { json } = await world.call('consensus', 'GET', '/api/v2/health', undefined, await createOperator(world))
  const { dependencies } = json as { dependencies: { name: string; state: string; latency_ms: number }[] }
  expect(dependencies.map(({ name, state }) => [name, state])).toEqual(
    expect.arrayContaining([
      ['store', 'ok'],
      ['site', 'ok'],
      ['transport filedrop', 'ok'],
    ]),
  )
})

describe('with a lookup-only pattern on customer premises', () => {
  const lookupOnly = { consensus: { matching_pattern: 'lookup_only' } }
  const onPrem = { PLATFORM_DEPLOYMENT_PROFILE: 'customer_onprem' }
  const pattern = { MATCHING_PATTERN: 'lookup_only' }

  test.each<{ title: string; options: TestSiteOptions }>([
    { title: 'both in the profile', options: { template: 'customer-onprem', profile: lookupOnly } },
    { title: 'both in the environment', options: { env: { ...onPrem, ...pattern } } },
    { title: 'the place in the environment', options: { profile: lookupOnly, env: onPrem } },
    { title: 'the pattern in the environment', options: { template: 'customer-onprem', env: pattern } },
  ])('it refuses to start, with the reason: $title', async ({ options }) => {
    const world = await endAfterTest(createTestSite(options))
    const starting = world.start()
    await expect(starting).rejects.toThrow(ProfileError)
    await expect(starting).rejects.toThrow(/^consensus: consensus requires the full-lens profile/)
  })

  test('elsewhere, and with the full lens there, it starts', async () => {
    for (const options of [{ env: pattern }, { template: 'customer-onprem' }]) {
      await (await endAfterTest(startTestSite(options))).stop()
    }
  })

  test('the site role alone starts there', async () => {
    const world = await endAfterTest(createTestSite({ template: 'customer-onprem', profile: lookupOnly }))
    const { folder, clock } = world
    const running = await serve({ folder, env: {}, clock, roles: ['site'], log: silent })
    await running.stop()
  })
})

test('tools that are enabled outside profile A are not offered, and the start says so', async () => {
  const world = await endAfterTest(
    createTestSite({ template: 'classified-airgapped', profile: { consensus: { mcp_enabled: true } } }),
  )
  const { folder, clock } = world
  const warned: unknown[] = []
  const log = { ...silent, warn: (...line: unknown[]) => void warned.push(line) }
  const running = await serve({ folder, env: {}, clock, log })
  await running.stop()
  expect(warned).toContainEqual([
    'consensus.agentspace.not-offered',
    {
      setting: 'consensus.mcp_enabled',
      deployment_profile: 'classified_airgapped',
      offered_in: ['single_cluster', 'multi_tenant_cloud'],
    },
  ])
})

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
