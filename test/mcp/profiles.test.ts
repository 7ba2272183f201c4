// Each role offers its tools where its setting and the deployment profile let it, in every profile.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyRole } from '../../daemon/every-role.ts'
import { toolOperations } from '../../daemon/kernel/api/mcp-tools.ts'
import { operationsOf } from '../../daemon/kernel/role/built-in-operations.ts'
import { type DeploymentProfile, deploymentProfiles } from '../../daemon/kernel/role/site.ts'
import { callTool, sendMcpRequest } from '../support/mcp/mcp-client.ts'
import { everyRoleSections } from '../support/site/single-cluster-site.ts'
import { startTestSite, type TestSite } from '../support/site/test-site.ts'

const isProfileA = (profile: DeploymentProfile) => profile === 'single_cluster' || profile === 'multi_tenant_cloud'

/** Whether a role with tools offers them, by the decisions of the interface: not by the code under test. */
function areToolsExpected(role: string, profile: DeploymentProfile, setting: boolean | undefined): boolean {
  if (role === 'consensus' && !isProfileA(profile)) return false
  return setting ?? profile !== 'classified_airgapped'
}

const rolesWithTools = everyRole.filter((role) => toolOperations('agentspace', operationsOf(role)).length > 0)
/** Of the gateway itself, beside the tools of the others. */
const own_tool = 'gateway_workflow_hints'
const aTool: Readonly<Record<string, string>> = {
  consensus: 'consensus_session_list',
  resolution: 'lens_list',
  intelligence: 'signal_list',
  ingest: 'datapipeline_list',
  gateway: own_tool,
}

test('the roles with tools are these', () => {
  expect(rolesWithTools.map(({ name }) => name).sort()).toEqual(Object.keys(aTool).sort())
})

const settings = [undefined, true, false]
const cases = deploymentProfiles.flatMap((profile) => settings.map((setting) => ({ profile, setting })))

describe.each(cases)('in $profile with mcp_enabled $setting', ({ profile, setting }) => {
  let world: TestSite
  let token: string
  beforeAll(async () => {
    // Both spellings: that of the section, and that of the interface decisions.
    const spell = (name: string) => (name === 'resolution' ? { mcp: { enabled: setting } } : { mcp_enabled: setting })
    const toolSections = Object.fromEntries(
      rolesWithTools.map(({ name }) => [
        name,
        { ...everyRoleSections[name as 'resolution'], ...(setting === undefined ? {} : spell(name)) },
      ]),
    )
    world = await startTestSite({
      profile: {
        ...everyRoleSections,
        ...toolSections,
        platform: { ...everyRoleSections.platform, deployment_profile: profile },
      },
    })
    token = await world.token({ roles: ['admin'] })
  })
  afterAll(() => world?.end())

  // The edge forwards this path, and the gateway has the tools of the others there.
  const others = everyRole.filter(({ name }) => name !== 'edge' && name !== 'gateway')
  test.each(others.map((role) => [role.name, role] as const))('%s', async (name, role) => {
    const isExpected = name in aTool && areToolsExpected(name, profile, setting)
    const info = (await world.call(name, 'GET', '/service-info')).json
    const count = toolOperations('agentspace', operationsOf(role)).length
    expect(info).toMatchObject({
      tools_count: isExpected ? count : 0,
      resources_count: isExpected ? (role.resources ?? []).length : 0,
    })
    expect((info as { mcp_path?: unknown }).mcp_path ?? undefined).toBe(isExpected ? '/agentspace' : undefined)
    if (name === 'proxy') return
    const port = Number(new URL(world.url(name)).port)
    const listed = await sendMcpRequest(port, 'tools/list', {}, { token })
    expect(listed.status).toBe(isExpected ? 200 : 404)
    if (!isExpected) return
    expect((listed.json as { result: { tools: unknown[] } }).result.tools).toHaveLength(count)
    expect(await callTool(port, aTool[name] ?? '', {}, { token })).toMatchObject({ structuredContent: { items: [] } })
  })

  test('the gateway has the tools of the roles that offer any, where it may itself', async () => {
    const offering = Object.keys(aTool).filter((name) => areToolsExpected(name, profile, setting))
    const port = Number(new URL(world.url('gateway')).port)
    const listed = await sendMcpRequest(port, 'tools/list', {}, { token })
    const isExpected = areToolsExpected('gateway', profile, setting)
    expect(listed.status).toBe(isExpected ? 200 : 404)
    if (!isExpected) return
    const { tools } = (listed.json as { result: { tools: { name: string }[] } }).result
    const services = new Set(tools.map(({ name }) => name.split('__', 1)[0]))
    const names: Readonly<Record<string, string>> = {
      ...{ consensus: 'consensus-service', resolution: 'resolution-service', ingest: 'pipeline-service' },
      ...{ intelligence: 'intelligence-service', gateway: own_tool },
    }
    const expected = offering.map((name) => names[name])
    expect([...services].sort()).toEqual(expected.sort())
  })
})
