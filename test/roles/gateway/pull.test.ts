// Services whose URLs the profile names: read at the start and in each interval, and kept for three of them.
import { afterEach, expect, test } from 'vitest'
import { get } from '../../../daemon/roles/gateway/registered-service/get.ts'
import { end } from '../../../daemon/roles/gateway/registration/end.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { type GatewaySite, setUpServices, startGatewaySite, startService } from './gateway-site.ts'

setUpServices()
const worlds: GatewaySite[] = []
afterEach(async () => {
  for (const { site } of worlds.splice(0)) {
    await site.end()
    expect(site.loggedErrors).toEqual([])
  }
})

async function startPulling(
  urls: readonly string[],
  sections: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {},
) {
  const env = { GATEWAY_SERVICES: urls.join(', ') }
  const { gateway = {}, ...profile } = sections
  const world = await startGatewaySite({ pull_interval_s: 1, ...gateway }, { env, profile })
  worlds.push(world)
  return world
}

test('they are registered as long as they answer, and say why when they do not', async () => {
  const service = await startService({ name: 'pulled', objects: ['well'] })
  const { site, as, ownerOf, events, states } = await startPulling([`${service.url}/`, service.url])
  await waitUntil(async () => (await states()).includes('pulled live'))
  expect(await ownerOf('well')).toBe('pulled')
  const shown = async () => (await as('x')).ok(get, { name: 'pulled' })
  expect(await shown()).toMatchObject({ source: 'pull', registered_by: 'role:gateway', ttl_seconds: 10 })
  service.describe({ name: 'pulled', objects: ['well', 'spring'] })
  await waitUntil(async () => (await ownerOf('spring')) === 'pulled')
  service.answerBy((response) => response.writeHead(503).end())
  await waitUntil(async () => (await states()).includes('pulled unverified'))
  expect((await shown()).last_error).toMatch(/^service_unreachable: it answered 503/)
  expect(events.filter((event) => event.startsWith('gateway.pull.failed'))).toHaveLength(1)
  site.clock.advance(10_000)
  site.wakeWorker('gateway', 'expire')
  await waitUntil(async () => (await states()).length === 0)
  service.describe({ name: 'pulled', objects: ['well'] })
  await waitUntil(async () => (await states()).includes('pulled live'))
})

test('one that registers by itself too has one registration, of whichever came first', async () => {
  const service = await startService({ name: 'both', objects: [] })
  const { register, as, states, site } = await startPulling([service.url])
  await waitUntil(async () => (await states()).includes('both live'))
  expect((await register('svc:both', 'both', service.url, 86_400)).value).toMatchObject({ outcome: 'renewed' })
  const { source, expires_at } = await (await as('x')).ok(get, { name: 'both' })
  expect([source, expires_at]).toEqual(['pull', site.clock.in(10_000)])
  expect(await (await as('svc:both')).refusal(end, { name: 'both' })).toBe('forbidden')
  const elsewhere = await startService({ name: 'both' })
  expect((await register('svc:both', 'both', elsewhere.url)).problem).toMatchObject({ code: 'already_exists' })
})

test('of two with one name the first stays, and one with the name of the platform is none of it', async () => {
  const first = await startService({ name: 'twin', objects: ['left'] })
  const second = await startService({ name: 'twin', objects: ['right'] })
  const liar = await startService({ name: 'intelligence-service', objects: ['signal'] })
  const { states, events, as, ownerOf } = await startPulling([first.url, liar.url])
  await waitUntil(async () => (await states()).includes('twin live'))
  await waitUntil(() => events.some((event) => event.startsWith('gateway.pull.failed')))
  expect(await states()).toEqual(['twin live'])
  expect(events.filter((event) => event.startsWith('gateway.pull.failed'))).toEqual([
    expect.stringContaining('name it in ingress.backends'),
  ])
  expect((await (await as('x')).ok(get, { name: 'twin' })).url).toBe(first.url)
  const both = await startPulling([first.url, second.url])
  await waitUntil(() => both.events.some((event) => event.startsWith('gateway.pull.failed')))
  await waitUntil(async () => (await both.states()).join() === 'twin live')
  expect([await ownerOf('left'), await ownerOf('signal')]).toEqual(['twin', 'intelligence-service'])
})

test('a service is registered where the profile says that it is there, and by no token elsewhere', async () => {
  const service = await startService({ name: 'alerting-service', objects: ['sensor', 'alert'] })
  const { states, register } = await startPulling([service.url], {
    ingress: { backends: { 'alerting-service': [service.url], placed: ['http://127.0.0.1:1'] } },
  })
  await waitUntil(async () => (await states()).includes('alerting-service live'))
  const placed = await startService({ name: 'placed', objects: ['spot'] })
  expect((await register('svc:mallory', 'placed', placed.url)).problem).toMatchObject({ status: 403 })
})

test('in a profile that refuses plain text, a URL of another machine must be https', async () => {
  const start = startGatewaySite({ services: ['http://maps.example:8000'] }, { template: 'classified-airgapped' })
  await expect(start).rejects.toThrow(/gateway\.services\.0: must use TLS/)
  const ingress = { registered_networks: ['192.0.2.0/24'] }
  const world = await startGatewaySite({}, { template: 'coalition-federated', profile: { ingress } })
  worlds.push(world)
  expect((await world.register('svc:maps', 'maps', 'http://192.0.2.1:8000')).problem).toMatchObject({
    ...{ status: 422, errors: [{ message: expect.stringMatching(/^url_not_allowed: .*http on this machine only/) }] },
  })
})
