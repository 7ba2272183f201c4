// Roles of a site register with the gateway of another one, with tokens of its endpoint: from the first start to the last end.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { get } from '../../daemon/roles/gateway/registered-service/get.ts'
import { end } from '../../daemon/roles/gateway/registration/end.ts'
import { type GatewaySite, setUpServices, startGatewaySite, startService } from '../roles/gateway/gateway-site.ts'
import { findFreePorts } from '../support/engines/server-process.ts'
import { startTestSite, type TestSite, waitUntil } from '../support/site/test-site.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'registry-'))
const secret_file = path.join(folder, 'secret')
writeFileSync(secret_file, 'the-secret-of-the-client\n', { mode: 0o600 })

const roles = ['ingest', 'resolution', 'intelligence', 'consensus']
const names = ['consensus-service', 'intelligence-service', 'pipeline-service', 'resolution-service']

setUpServices()
let ports: number[]
let gateway: GatewaySite
beforeAll(async () => {
  ports = await findFreePorts(roles.length + 2)
  const client = { secret_file, tenant_id: 'tenant-a', roles: ['service'] }
  const clients = [
    { ...client, client_id: 'platform' },
    { ...client, client_id: 'stranger' },
  ]
  gateway = await startGatewaySite(
    { port: ports.at(-1) },
    { profile: { identity: { clients }, site: { port: ports.at(-2) }, sso: { client_id: 'platform' } } },
  )
})
afterAll(async () => {
  await gateway?.site.end()
  expect(gateway?.site.loggedErrors).toEqual([])
  rmSync(folder, { recursive: true })
})

const listLive = async () => (await gateway.states()).filter((each) => each.endsWith(' live'))
const allLive = names.map((name) => `${name} live`)

async function startRoles(deregisters: boolean): Promise<TestSite> {
  const sections = roles.map((role, at) => [role, { port: ports[at], public_url: `http://127.0.0.1:${ports[at]}` }])
  return await startTestSite({
    name: 'beta',
    env: { SSO_CLIENT_SECRET_FILE: secret_file },
    profile: {
      platform: { roles: ['site', ...roles] },
      ...Object.fromEntries(sections),
      gateway_client: { url: gateway.site.url('gateway'), deregisters },
      sso: { token_url: `${gateway.site.url('site')}/oauth2/token`, client_id: 'platform' },
    },
  })
}

async function wakeRenewals(site: TestSite): Promise<void> {
  for (const role of roles) site.wakeWorker(role, 'gateway-registration')
}

test('roles are registered while they run, renew, survive a restart of the gateway, and leave when they stop', async () => {
  const site = await startRoles(true)
  try {
    await waitUntil(async () => (await listLive()).length === names.length)
    expect(await listLive()).toEqual(allLive)
    expect([await gateway.ownerOf('datapipeline'), await gateway.ownerOf('dataeffect')]).toEqual([
      ...['pipeline-service', 'pipeline-service'],
    ])
    const reader = await gateway.as('svc:reader')
    const first = await reader.ok(get, { name: 'pipeline-service' })
    expect(first).toMatchObject({
      ...{ registered_by: 'platform', url: `http://127.0.0.1:${ports[0]}`, source: 'push' },
      objects: ['dataeffect', 'datapipeline', 'datapipelineconnection'],
    })
    for (const clock of [gateway.site.clock, site.clock]) clock.advance(150_000)
    await wakeRenewals(site)
    await waitUntil(async () => {
      const { expires_at } = await reader.ok(get, { name: 'pipeline-service' })
      return Date.parse(expires_at) === Date.parse(first.expires_at) + 150_000
    })
    await gateway.site.restart()
    expect(await listLive()).toEqual(allLive)
  } finally {
    await site.end()
  }
  expect(site.loggedErrors).toEqual([])
  expect(await gateway.states()).toEqual([])
})

test('those that are gone without a word expire, and no other client takes their place', async () => {
  const site = await startRoles(false)
  await waitUntil(async () => (await listLive()).length === names.length)
  await site.end()
  expect(await listLive()).toEqual(allLive)
  expect(await (await gateway.as('stranger')).refusal(end, { name: 'intelligence-service' })).toBe('forbidden')
  gateway.site.clock.advance(300_000)
  gateway.site.wakeWorker('gateway', 'expire')
  await waitUntil(async () => (await gateway.states()).length === 0)
  const liar = await startService({ name: 'intelligence-service', objects: ['signal'] })
  const answer = await gateway.register('stranger', 'intelligence-service', liar.url)
  expect(answer.problem).toMatchObject({ status: 403 })
  expect(liar.reads).toEqual([])
})
