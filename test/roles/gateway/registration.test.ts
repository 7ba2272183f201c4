// The life of a registration: first, renewed, changed, ended, expired, and kept over a restart.
import { expect, test } from 'vitest'
import { get } from '../../../daemon/roles/gateway/registered-service/get.ts'
import { remove } from '../../../daemon/roles/gateway/registered-service/remove.ts'
import { end } from '../../../daemon/roles/gateway/registration/end.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { setUpGatewaySite, startService } from './gateway-site.ts'

const stage = setUpGatewaySite()

const describeService = (name: string, ...objects: string[]) => ({
  ...{ name, version: '1.2.3', health_path: '/health', api_path: '/api/v1', mcp_path: '/agentspace' },
  ...{ objects, tools_count: 7, secrets: 'are dropped', mcp_tools: [{ name: 'x' }] },
})

test('a service is listed with what its service-info says, and its objects are routed to it', async () => {
  const { register, as, ownerOf, events, site } = stage()
  const service = await startService(describeService('maps', 'tile', 'map', 'tile'))
  expect((await register('svc:maps', 'maps', service.url)).value).toMatchObject({
    ...{ name: 'maps', outcome: 'registered', state: 'live', expires_at: site.clock.in(300_000) },
  })
  const shown = await (await as('svc:other')).ok(get, { name: 'maps' })
  expect(shown).toEqual({
    ...{ name: 'maps', url: service.url, component_kind: 'library', source: 'push', state: 'live' },
    ...{ objects: ['map', 'tile'], version: '1.2.3', api_path: '/api/v1', health_path: '/health' },
    ...{ mcp_path: '/agentspace', tools_count: 7, ttl_seconds: 300, registered_by: 'svc:maps' },
    ...{ registered_at: site.clock.in(0), info_at: site.clock.in(0), expires_at: site.clock.in(300_000) },
    info_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect([await ownerOf('map'), await ownerOf('tile'), await ownerOf('signal')]).toEqual([
    ...['maps', 'maps', 'intelligence-service'],
  ])
  expect(events.filter((event) => event.includes('"maps"'))).toEqual([
    expect.stringMatching(/^gateway\.registration\.registered .*"objects":2/),
  ])
  expect(service.reads).toEqual(['GET /service-info'])
})

test('a renewal moves the end alone, and reads the service again only after some minutes', async () => {
  const { register, as, site, events } = stage()
  const service = await startService(describeService('rails', 'rail'))
  await register('svc:rails', 'rails', service.url)
  const before = events.length
  site.clock.advance(150_000)
  service.describe(describeService('rails', 'rail', 'track'))
  expect((await register('svc:rails', 'rails', service.url)).value).toMatchObject({ outcome: 'renewed' })
  const renewed = await (await as('x')).ok(get, { name: 'rails' })
  expect(renewed).toMatchObject({ objects: ['rail'], expires_at: site.clock.in(300_000) })
  expect([service.reads.length, events.length]).toEqual([1, before])
  site.clock.advance(200_000)
  expect((await register('svc:rails', 'rails', service.url)).value).toMatchObject({ outcome: 'changed' })
  expect(await (await as('x')).ok(get, { name: 'rails' })).toMatchObject({
    objects: ['rail', 'track'],
    registered_at: renewed.registered_at,
  })
  expect(events.at(-1)).toMatch(/^gateway\.registration\.changed /)
})

test('services whose registrations end together leave together, each with one record', async () => {
  const { register, states, events, ownerOf, site } = stage()
  const names = Array.from({ length: 12 }, (_, at) => `fleet-${at}`)
  for (const name of names) {
    const { url } = await startService(describeService(name, `ship-${name}`))
    await register('svc:fleet', name, url)
  }
  site.clock.advance(300_000)
  site.wakeWorker('gateway', 'expire')
  await waitUntil(async () => !(await states()).some((state) => state.startsWith('fleet-')))
  const ended = events.filter((event) => /^gateway\.registration\.expired .*"fleet-/.test(event))
  expect(ended.length).toBe(names.length)
  expect(await Promise.all(names.map((name) => ownerOf(`ship-${name}`)))).toEqual(names.map(() => undefined))
})

test('another URL is read at once; objects that the service no longer has are free', async () => {
  const { register, ownerOf } = stage()
  const first = await startService(describeService('ports', 'quay', 'crane'))
  const second = await startService(describeService('ports', 'crane', 'berth'))
  await register('svc:ports', 'ports', first.url)
  expect((await register('svc:ports', 'ports', second.url)).value).toMatchObject({ outcome: 'changed' })
  expect([await ownerOf('quay'), await ownerOf('crane'), await ownerOf('berth')]).toEqual([
    ...[undefined, 'ports', 'ports'],
  ])
  const other = await startService(describeService('quays', 'quay'))
  expect((await register('svc:quays', 'quays', other.url)).status).toBe(200)
  expect(await ownerOf('quay')).toBe('quays')
})

test('a service that cannot be read again stays, and is marked until it can', async () => {
  const { register, as, site, ownerOf, events } = stage()
  const service = await startService(describeService('weather', 'storm'))
  await register('svc:weather', 'weather', service.url)
  site.clock.advance(290_000)
  await register('svc:weather', 'weather', service.url)
  site.clock.advance(20_000)
  service.answerBy((response) => response.writeHead(500).end())
  expect((await register('svc:weather', 'weather', service.url)).value).toMatchObject({ state: 'unverified' })
  expect(await (await as('x')).ok(get, { name: 'weather' })).toMatchObject({
    ...{ state: 'unverified', last_error: 'service_unreachable: it answered 500 to GET /service-info' },
    expires_at: site.clock.in(300_000),
  })
  expect(await ownerOf('storm')).toBe('weather')
  expect(events.at(-1)).toMatch(/^gateway\.service\.unverified /)
  service.describe(describeService('weather', 'storm'))
  expect((await register('svc:weather', 'weather', service.url)).value).toMatchObject({ state: 'live' })
  expect((await (await as('x')).ok(get, { name: 'weather' })).last_error).toBeUndefined()
  // Another service answers there by now: that is no registration of this one.
  site.clock.advance(299_000)
  await register('svc:weather', 'weather', service.url)
  site.clock.advance(2_000)
  service.describe(describeService('intruder', 'storm'))
  expect((await register('svc:weather', 'weather', service.url)).problem).toMatchObject({ status: 422 })
})

test('its registrant ends a registration, and an administrator any', async () => {
  const { register, as, states, site } = stage()
  const service = await startService(describeService('rivers', 'river'))
  await register('svc:rivers', 'rivers', service.url)
  expect(await (await as('svc:other')).refusal(end, { name: 'rivers' })).toBe('forbidden')
  expect(await (await as('svc:other')).refusal(remove, { name: 'rivers' })).toBe('forbidden')
  expect(await (await as('svc:rivers')).ok(end, { name: 'rivers' })).toEqual({ name: 'rivers' })
  expect(await (await as('svc:rivers')).refusal(end, { name: 'rivers' })).toBe('not_found')
  await register('svc:rivers', 'rivers', service.url)
  const admin = await site.as({ subject: 'ada', roles: ['admin'] })
  expect(await admin.ok(remove, { name: 'rivers' })).toEqual({ name: 'rivers' })
  expect((await states()).filter((each) => each.startsWith('rivers'))).toEqual([])
})

test('a registration that nobody renews ends: at once for its routes, then in the list, with one record', async () => {
  const { register, states, ownerOf, site, events } = stage()
  const service = await startService(describeService('bridges', 'bridge'))
  await register('svc:bridges', 'bridges', service.url, 10)
  site.clock.advance(10_000)
  expect(await ownerOf('bridge')).toBeUndefined()
  site.wakeWorker('gateway', 'expire')
  await waitUntil(async () => (await states()).every((each) => !each.startsWith('bridges')))
  expect(events.filter((event) => event.includes('"bridges"') && event.includes('expired'))).toHaveLength(1)
  const admin = await site.token({ roles: ['admin'] })
  const at = '/api/v2/gateway/audit?target=bridges'
  const { json } = await site.call('gateway', 'GET', at, undefined, { token: admin })
  const { items } = json as { items: readonly { event: { action: string; subject: string } }[] }
  expect(items.map(({ event: { action, subject } }) => `${action} ${subject}`)).toEqual([
    ...['gateway.registration.expired role:gateway', 'gateway.registration.registered svc:bridges'],
  ])
})

test('a restart keeps the registrations', async () => {
  const { register, states, ownerOf, site } = stage()
  const service = await startService(describeService('towers', 'tower'))
  await register('svc:towers', 'towers', service.url, 86_400)
  await site.restart()
  expect(await states()).toContain('towers live')
  expect(await ownerOf('tower')).toBe('towers')
  expect((await register('svc:towers', 'towers', service.url)).value).toMatchObject({ outcome: 'renewed' })
})
