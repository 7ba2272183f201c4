// Names of indexes: those that stand never change, and no two roles share one.
import { expect, test } from 'vitest'
import { resolution } from '../../roles/resolution/role.ts'
import { roles } from '../../roles.ts'
import { indexPrefix } from './documents.ts'

test('indexes are named by prefix, site and role; those of entity resolution are the family fusion', () => {
  const prefixes = Object.fromEntries(roles.map((role) => [role.name, indexPrefix(role, 'platform', 'alpha')]))
  expect(prefixes).toEqual({
    site: 'platform.alpha.site.',
    ingest: 'platform.alpha.ingest.',
    intelligence: 'platform.alpha.intelligence.',
    consensus: 'platform.alpha.consensus.',
    hub: 'platform.alpha.hub.',
    resolution: 'platform.alpha.fusion.',
    proxy: 'platform.alpha.proxy.',
    gateway: 'platform.alpha.gateway.',
    edge: 'platform.alpha.edge.',
  })
  expect(new Set(Object.values(prefixes)).size).toBe(roles.length)
})

test('the objects of entity resolution are in that family', () => {
  const names = resolution.collections.map(({ name }) => `${indexPrefix(resolution, 'platform', 'alpha')}${name}`)
  const objects = ['lens', 'lens_binding', 'entity_match', 'entity_cluster', 'fusion_run']
  expect(names).toEqual(expect.arrayContaining(objects.map((name) => `platform.alpha.fusion.${name}`)))
})
