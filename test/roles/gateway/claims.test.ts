// Owners of objects and names: one at a time, whatever registers at once, and those of the platform never others.
import { describe, expect, test } from 'vitest'
import { get } from '../../../daemon/roles/gateway/registered-service/get.ts'
import { list } from '../../../daemon/roles/gateway/registered-service/list.ts'
import { end } from '../../../daemon/roles/gateway/registration/end.ts'
import { register as registerOperation } from '../../../daemon/roles/gateway/registration/register.ts'
import { list as routeList } from '../../../daemon/roles/gateway/route/list.ts'
import { routedServices } from '../../../daemon/shared/routing/routed-services.ts'
import { setUpGatewaySite, startService } from './gateway-site.ts'

const stage = setUpGatewaySite({ registrants: { 'pipeline-service': 'svc:pipelines', pinned: 'svc:pinned' } })

test('an object of another service is refused, by name of the owner, until that one ends', async () => {
  const { register, ownerOf, events, as } = stage()
  const first = await startService({ name: 'first', objects: ['chart', 'plot'] })
  const second = await startService({ name: 'second', objects: ['axis', 'plot'] })
  await register('svc:first', 'first', first.url)
  expect((await register('svc:second', 'second', second.url)).problem).toMatchObject({
    ...{ status: 409, code: 'already_exists', detail: 'the object plot belongs to first' },
  })
  expect(events.at(-1)).toMatch(/^gateway\.registration\.conflict .*"object":"plot","owner":"first"/)
  // Nothing is left of the attempt.
  expect(await (await as('x')).refusal(get, { name: 'second' })).toBe('not_found')
  const third = await startService({ name: 'third', objects: ['axis'] })
  expect((await register('svc:third', 'third', third.url)).status).toBe(200)
  await (await as('svc:third')).ok(end, { name: 'third' })
  await (await as('svc:first')).ok(end, { name: 'first' })
  expect((await register('svc:second', 'second', second.url)).status).toBe(200)
  expect([await ownerOf('axis'), await ownerOf('plot'), await ownerOf('chart')]).toEqual([
    'second',
    'second',
    undefined,
  ])
})

test('a change that wants an object of another service leaves the registration as it was', async () => {
  const { register, ownerOf, site, as } = stage()
  const first = await startService({ name: 'keeper', objects: ['vault'] })
  const second = await startService({ name: 'wanter', objects: ['purse'] })
  await register('svc:keeper', 'keeper', first.url, 86_400)
  await register('svc:wanter', 'wanter', second.url, 86_400)
  second.describe({ name: 'wanter', objects: ['purse', 'safe', 'vault'] })
  site.clock.advance(300_000)
  expect((await register('svc:wanter', 'wanter', second.url, 86_400)).problem?.detail).toBe(
    'the object vault belongs to keeper',
  )
  expect(await (await as('x')).ok(get, { name: 'wanter' })).toMatchObject({ objects: ['purse'], state: 'live' })
  expect([await ownerOf('purse'), await ownerOf('vault')]).toEqual(['wanter', 'keeper'])
  const third = await startService({ name: 'saver', objects: ['safe'] })
  expect((await register('svc:saver', 'saver', third.url)).status).toBe(200)
})

test('an object whose owner was not renewed in time is free before anything removes the owner', async () => {
  const { register, ownerOf, site, states } = stage()
  const first = await startService({ name: 'late', objects: ['seat'] })
  const second = await startService({ name: 'prompt', objects: ['seat'] })
  await register('svc:late', 'late', first.url, 10)
  site.clock.advance(10_000)
  expect((await register('svc:prompt', 'prompt', second.url)).status).toBe(200)
  expect(await ownerOf('seat')).toBe('prompt')
  expect((await register('svc:late', 'late', first.url)).problem?.detail).toBe('the object seat belongs to prompt')
  expect((await states()).filter((each) => each.startsWith('late'))).toEqual([])
})

test('of many registrations at once that share objects, one has them all', async () => {
  const { register, as, site } = stage()
  for (let round = 0; round < 10; round += 1) {
    const objects = [1, 2, 3].map((part) => `raced-${round}-${part}`)
    const names = Array.from({ length: 8 }, (_, at) => `racer-${round}-${at}`)
    const running = await Promise.all(
      names.map(async (name, at) => ({
        name,
        // Each has one of its own before the common ones, and lists them in another order.
        service: await startService({ name, objects: [`a-${name}`, ...(at % 2 ? objects : objects.toReversed())] }),
      })),
    )
    const answers = await Promise.all(running.map(({ name, service }) => register(`svc:${name}`, name, service.url)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)])
    const { items } = await (await as('x')).ok(list, { limit: 500 })
    const winner = names[answers.findIndex(({ status }) => status === 200)]
    expect(
      items.filter(({ name }) => names.includes(name)).map(({ name, objects: all }) => [name, all.length]),
    ).toEqual([[winner, 4]])
    await (await site.as({ subject: `svc:${winner}`, roles: ['service'] })).ok(end, { name: winner ?? '' })
  }
})

test('of many registrations of one name at once, one subject has it', async () => {
  const { register, as } = stage()
  const service = await startService({ name: 'contested', objects: ['prize'] })
  const subjects = Array.from({ length: 8 }, (_, at) => `svc:contender-${at}`)
  const answers = await Promise.all(subjects.map((subject) => register(subject, 'contested', service.url)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  const winner = subjects[answers.findIndex(({ status }) => status === 200)]
  expect((await (await as('x')).ok(get, { name: 'contested' })).registered_by).toBe(winner)
  for (const subject of subjects.filter((each) => each !== winner))
    expect((await register(subject, 'contested', service.url)).problem).toMatchObject({ code: 'already_exists' })
})

describe('a service of the platform', () => {
  test.each(routedServices.map(({ name }) => name))('%s is nobody’s to register with a token alone', async (name) => {
    const { register } = stage()
    const service = await startService({ name, objects: [] })
    expect((await register('svc:mallory', name, service.url)).problem).toMatchObject({ code: 'forbidden' })
    expect(service.reads).toEqual([])
  })

  test('has its name for the subject of the profile alone, at whichever time', async () => {
    const { register, ownerOf } = stage()
    const service = await startService({ name: 'pipeline-service', objects: ['datapipeline', 'dataeffect', 'effect'] })
    expect((await register('svc:pipelines', 'pipeline-service', service.url)).status).toBe(200)
    expect(await ownerOf('datapipeline')).toBe('pipeline-service')
    const pinned = await startService({ name: 'pinned' })
    expect((await register('svc:mallory', 'pinned', pinned.url)).problem).toMatchObject({ code: 'forbidden' })
    expect((await register('svc:pinned', 'pinned', pinned.url)).status).toBe(200)
  })

  const fixed = routedServices.flatMap(({ name, objects }) => objects.map((object) => [object, name] as const))
  test('keeps each of its objects, and the paths that it has beside them', async () => {
    const { register, ownerOf } = stage()
    const service = await startService()
    for (const [object, owner] of [...fixed, ['federation', 'intelligence-service'] as const]) {
      service.describe({ name: 'hijacker', objects: ['ours', object] })
      expect((await register('svc:mallory', 'hijacker', service.url)).problem).toMatchObject({
        ...{ status: 409, code: 'already_exists' },
        detail: `the object ${object} belongs to ${owner}`,
      })
    }
    expect([await ownerOf('signal'), await ownerOf('ours')]).toEqual(['intelligence-service', undefined])
  })

  test('has no object of another one either', async () => {
    const { register } = stage()
    const service = await startService({ name: 'pipeline-service', objects: ['datapipeline', 'signal'] })
    expect((await register('svc:pipelines', 'pipeline-service', service.url)).problem?.detail).toBe(
      'the object signal belongs to intelligence-service',
    )
  })
})

test('another tenant neither sees nor changes the registry', async () => {
  const { register, site } = stage()
  const service = await startService({ name: 'ours-alone', objects: ['private'] })
  await register('svc:ours', 'ours-alone', service.url)
  const stranger = await site.as({ subject: 'svc:ours', roles: ['admin'], tenant: 'tenant-z' })
  expect((await stranger.ok(list, {})).items).toEqual([])
  expect((await stranger.ok(routeList, {})).items).toEqual([])
  expect(await stranger.refusal(get, { name: 'ours-alone' })).toBe('not_found')
  expect(await stranger.refusal(end, { name: 'ours-alone' })).toBe('not_your_tenant')
  const input = { name: 'theirs', url: service.url, ttl_seconds: 60, component_kind: 'agent' } as const
  expect(await stranger.refusal(registerOperation, input)).toBe('not_your_tenant')
  const reader = await site.as({ subject: 'ann', roles: ['analyst'] })
  expect(await reader.refusal(registerOperation, input)).toBe('forbidden')
})
