// The gateway keeps ingresses in a real cluster with its own account: written, changed, repaired and removed by the registry, and
// nothing of anybody else's.
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test as plainTest } from 'vitest'
import { parse, stringify } from 'yaml'
import { list } from '../../../daemon/roles/gateway/managed-ingress/list.ts'
import { managedIngresses } from '../../../daemon/roles/gateway/managed-ingress/model.ts'
import { services } from '../../../daemon/roles/gateway/registered-service/model.ts'
import { remove } from '../../../daemon/roles/gateway/registered-service/remove.ts'
import { end } from '../../../daemon/roles/gateway/registration/end.ts'
import { register } from '../../../daemon/roles/gateway/registration/register.ts'
import {
  type GatewayCluster,
  gatewayCluster,
  gatewayProfile,
  ingresses_path,
  storedService,
} from '../../support/engines/gateway-cluster.ts'
import { kubeApiserverRequirement } from '../../support/engines/kube-apiserver.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'

const test = whenPresent(kubeApiserverRequirement, plainTest)
const hour_ms = 3_600_000

let cluster: GatewayCluster
const sites: TestSite[] = []
let events: string[] = []
beforeAll(async () => {
  if (kubeApiserverRequirement.isPresent) cluster = await gatewayCluster()
})
afterEach(async () => {
  for (const site of sites.splice(0)) {
    await site.end()
    expect(site.loggedErrors).toEqual([])
  }
  events = []
  await cluster?.removeAll()
})
afterAll(() => cluster?.end())

async function startGateway(ingress: Readonly<Record<string, unknown>> = {}): Promise<TestSite> {
  const site = await startTestSite({
    profile: gatewayProfile(cluster, ingress),
    onEvent: (event, fields) =>
      void (event.startsWith('gateway.') && events.push(`${event} ${fields.name ?? fields.cause ?? ''}`)),
  })
  sites.push(site)
  return site
}

async function seed(site: TestSite, name: string, objects: readonly string[], url = `http://${name}:8500`) {
  const ends_ts = site.clock.now() + hour_ms
  await site.store('gateway').create(services, name, storedService(name, url, objects, ends_ts))
}

async function shown(site: TestSite) {
  const { items } = await (await site.as({ subject: 'reader', roles: ['auditor'] })).ok(list, { limit: 500 })
  return items.map(({ service, state, backend = '-' }) => `${service} ${state} ${backend}`)
}

const find = (service: string) => cluster.find(`gateway-managed-${service}-rest`)
async function routesOf(service: string) {
  const ingress = await find(service)
  const annotation = ingress?.metadata.annotations['traefik.ingress.kubernetes.io/router.priority']
  return ingress?.spec.rules[0].http.paths.map(
    ({ path, backend }) => `${path} ${backend.service.name}:${backend.service.port.number} ${annotation}`,
  )
}
const isWritten = (service: string) => waitUntil(() => find(service))

test('a registered service gets its ingress, direct at 100, in both formats; the end of its registration removes it', async () => {
  const site = await startGateway()
  await seed(site, 'maps', ['tile', 'layer'])
  await isWritten('maps')
  expect(await routesOf('maps')).toEqual([
    '/api/v1/tile maps:8500 100',
    '/userspace/tile maps:8500 100',
    '/api/v1/layer maps:8500 100',
    '/userspace/layer maps:8500 100',
  ])
  expect((await find('maps'))?.spec).toMatchObject({ ingressClassName: 'traefik' })
  await waitUntil(async () => (await shown(site)).includes('maps written maps:8500'))
  await site
    .store('gateway')
    .update(services, 'maps', ({ value }) => ({ next: { ...value, objects: ['tile'] }, answer: 0 }))
  await waitUntil(async () => (await routesOf('maps'))?.length === 2)
  site.clock.advance(hour_ms)
  await waitUntil(async () => (await find('maps')) === undefined)
  await waitUntil(async () => (await shown(site)).length === 0)
  const auditor = await site.token({ subject: 'al', roles: ['auditor'] })
  const at = '/api/v2/gateway/audit?target=gateway-managed-maps-rest'
  const { json } = await site.call('gateway', 'GET', at, undefined, { token: auditor })
  const audited = (json as { items: { event: { action: string; subject: string; detail: object } }[] }).items
  expect(audited.map(({ event }) => event.action).sort()).toEqual(
    ['created', 'deleted', 'patched'].map((each) => `gateway.ingress.${each}`),
  )
  expect(audited.find(({ event }) => event.action === 'gateway.ingress.created')?.event).toMatchObject({
    subject: 'role:gateway',
    detail: { service: 'maps', backend: 'maps:8500', priority: 100, paths: 4 },
  })
})

test('what somebody edits or deletes is repaired, and what the gateway does not decide is kept', async () => {
  const site = await startGateway()
  await seed(site, 'maps', ['tile'])
  const before = await isWritten('maps')
  const at = `${ingresses_path}/${before.metadata.name}`
  const edited = structuredClone(before) as unknown as {
    metadata: object
    spec: { rules: [{ http: { paths: unknown[] } }] }
  }
  edited.spec.rules[0].http.paths.pop()
  edited.metadata = { ...edited.metadata, annotations: { ...before.metadata.annotations, note: 'kept' } }
  expect((await cluster.api.request('PUT', at, edited)).status).toBe(200)
  await waitUntil(async () => (await routesOf('maps'))?.length === 2)
  const repaired = await find('maps')
  expect([repaired?.metadata.uid, repaired?.metadata.annotations.note]).toEqual([before.metadata.uid, 'kept'])
  expect((await cluster.api.request('DELETE', at)).status).toBe(200)
  await waitUntil(async () => (await find('maps'))?.metadata.uid !== before.metadata.uid && (await find('maps')))
  await waitUntil(() => events.filter((event) => event.startsWith('gateway.ingress.repaired')).length === 2)
  const { metadata } = (await find('maps')) as { metadata: { resourceVersion: string } }
  // Labels and annotations of others, and what a controller writes into the status, need no write.
  const status = { metadata: { name: before.metadata.name, labels: { extra: 'x' } } }
  const patched = await cluster.api.request('PUT', at, {
    ...(await find('maps')),
    ...merge(await find('maps'), status),
  })
  expect(patched.status).toBe(200)
  expect((patched.body.metadata as { resourceVersion: string }).resourceVersion).not.toBe(metadata.resourceVersion)
  await seed(site, 'later', ['later'])
  await isWritten('later')
  expect((await find('maps'))?.metadata.resourceVersion).toBe(
    (patched.body.metadata as { resourceVersion: string }).resourceVersion,
  )
})

function merge(ingress: Awaited<ReturnType<typeof find>>, { metadata }: { metadata: { labels: object } }) {
  return { metadata: { ...ingress?.metadata, labels: { ...ingress?.metadata.labels, ...metadata.labels } } }
}

test('with the gateway in the path every service is behind it at 200, wherever it is; without, one outside has no ingress', async () => {
  const direct = await startGateway()
  await seed(direct, 'maps', ['tile'])
  await seed(direct, 'outside', ['well'], 'http://10.20.0.7:8000')
  await isWritten('maps')
  await waitUntil(async () => (await shown(direct)).includes('outside unroutable -'))
  expect(await find('outside')).toBeUndefined()
  expect(events).toContain('gateway.ingress.unroutable gateway-managed-outside-rest')
  const folder = direct.folder.profile
  await direct.stop()
  const toggle = (enabled: boolean) => {
    const profile = parse(readFileSync(folder, 'utf8'))
    profile.ingress.rest_gateway = { enabled }
    writeFileSync(folder, stringify(profile))
  }
  toggle(true)
  await direct.start()
  await waitUntil(async () => (await routesOf('outside'))?.[0] === '/api/v1/well gateway:8001 200')
  await waitUntil(async () => (await routesOf('maps'))?.[1] === '/userspace/tile gateway:8001 200')
  await direct.stop()
  toggle(false)
  await direct.start()
  await waitUntil(async () => (await find('outside')) === undefined)
  await waitUntil(async () => (await routesOf('maps'))?.[0] === '/api/v1/tile maps:8500 100')
  const expected = ['maps written maps:8500', 'outside unroutable -']
  await waitUntil(async () => JSON.stringify(await shown(direct)) === JSON.stringify(expected))
})

test('a service that registers over the network has its ingress until it ends its registration', async () => {
  const site = await startGateway({ rest_gateway: { enabled: true } })
  const service = createServer((_, response) => void response.end(JSON.stringify({ name: 'tides', objects: ['tide'] })))
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const client = await site.as({ subject: 'svc:tides', roles: ['service'] })
  await client.ok(register, { name: 'tides', url, ttl_seconds: 300, component_kind: 'library' })
  await isWritten('tides')
  expect(await routesOf('tides')).toEqual(['/api/v1/tide gateway:8001 200', '/userspace/tide gateway:8001 200'])
  await client.ok(end, { name: 'tides' })
  await waitUntil(async () => (await find('tides')) === undefined)
  service.close()
})

test('an ingress of somebody else stays: a static one, one with the prefix alone, one with the mark alone; a taken name is a conflict', async () => {
  const rule = {
    http: { paths: [{ path: '/x', pathType: 'Prefix', backend: { service: { name: 'x', port: { number: 1 } } } }] },
  }
  const mark = { 'app.kubernetes.io/managed-by': 'platform-gateway', 'app.kubernetes.io/instance': 'alpha' }
  const foreign = (name: string, labels = {}) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name, labels },
    spec: { rules: [rule] },
  })
  for (const each of [
    foreign('consensus-service-rest'),
    foreign('gateway-managed-other-rest', { ...mark, 'app.kubernetes.io/instance': 'bravo' }),
    foreign('gateway-managed-maps-rest'),
    foreign('somebody', mark),
  ])
    expect((await cluster.api.request('POST', ingresses_path, each)).status).toBe(201)
  const before = (await cluster.list()).map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
  const site = await startGateway()
  await seed(site, 'maps', ['tile'])
  await waitUntil(async () => (await shown(site)).includes('maps conflict maps:8500'))
  await seed(site, 'last', ['last'])
  await isWritten('last')
  const after = (await cluster.list()).map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
  expect(after).toEqual(expect.arrayContaining(before))
  expect(after.length).toBe(before.length + 1)
  expect((await cluster.api.request('DELETE', `${ingresses_path}/gateway-managed-maps-rest`)).status).toBe(200)
  await waitUntil(async () => (await routesOf('maps'))?.length === 2)
  // Its record follows the answer of the API server.
  await waitUntil(async () => (await shown(site)).includes('maps written maps:8500'))
})

test('removed by an administrator while the API server is down, it is removed once the server is back', async () => {
  const site = await startGateway()
  for (const name of ['maps', 'tides']) await seed(site, name, [name])
  await isWritten('maps')
  await isWritten('tides')
  await cluster.api.server.kill()
  await waitUntil(() => events.some((event) => event.startsWith('gateway.cluster.unreachable')))
  await (await site.as({ roles: ['admin'] })).ok(remove, { name: 'tides' })
  await seed(site, 'new', ['new'])
  await waitUntil(async () => (await shown(site)).includes('new pending new:8500'))
  await cluster.api.forgetHistory()
  await cluster.api.server.start()
  await isWritten('new')
  await waitUntil(async () => (await find('tides')) === undefined)
  // 410 Gone, for the version after which it watched.
  expect(events).toContain('gateway.cluster.listed expired')
  expect(await find('maps')).toBeDefined()
  const recordOf = (name: string) => site.store('gateway').get(managedIngresses, name)
  await waitUntil(async () => (await recordOf('gateway-managed-tides-rest')) === undefined)
})
