// A deletion that fails, as that of a damaged document, is logged and delays no other.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { find } from '../../../daemon/roles/resolution/entity/find.ts'
import { get as cluster } from '../../../daemon/roles/resolution/entity-cluster/get.ts'
import { clusterUid, entityClusters } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { remove } from '../../../daemon/roles/resolution/entity-cluster/remove.ts'
import { forget } from '../../../daemon/roles/resolution/entity-record/forget.ts'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'
import { seedRegistry } from './seed-registry.ts'

let world: TestSite
beforeAll(async () => {
  world = await startTestSite({ profile: { platform: { roles: ['site', 'resolution'] }, resolution: { port: 0 } } })
})
afterAll(async () => {
  await world?.end()
})

test('the next entity is deleted, and the next record forgotten', async () => {
  const lens = 'people'
  await seedRegistry(world, { lens, clusters: [['a'], ['b'], ['c']], pairs: [] })
  const ref = (record_id: string) => ({ node_id: 'north', record_id })
  const damaged = clusterUid('tenant-a', lens, ref('a'))
  await world.store('resolution').update(entityClusters, damaged, ({ value }) => ({
    next: { ...value, state: 'deleted' as const, removing: 1 as const },
    answer: undefined,
  }))
  const olga = await world.as({ subject: 'olga', roles: ['operator'] })
  const { uid } = await olga.ok(find, { lens, ...ref('b') })
  await olga.ok(remove, { uid, reason: 'test data' })
  expect(await olga.refusal(find, { lens, ...ref('b') })).toBe('not_found')
  expect(await olga.ok(forget, { lens, ...ref('c'), reason: 'requested' })).toMatchObject({ settled: true })
  expect(await olga.ok(cluster, { uid: damaged })).toMatchObject({ state: 'deleted' })
  expect(world.loggedErrors.length).toBeGreaterThan(0)
  expect(world.loggedErrors.join()).toContain('resolution.entity-cluster.not_removed')
})
