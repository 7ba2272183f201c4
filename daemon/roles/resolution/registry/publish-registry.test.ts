// A run writes an entity that it found unchanged, and that others may have changed meanwhile.
import { expect, test } from 'vitest'
import type { StoredCluster } from '../entity-cluster/model.ts'
import { mergeUnchangedEntity } from './publish-registry.ts'

const policy = { policy: 'SITE', levels: ['UNCLASSIFIED', 'SECRET'] }
const label = {
  ...{ policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'tenant-a' },
  releasable_to: ['tenant-a'],
}
const refs = (...ids: string[]) => ids.map((record_id) => ({ node_id: 'north', record_id }))

function buildEntity(fields: Partial<StoredCluster> = {}): StoredCluster {
  return {
    ...{ tenant_id: 'tenant-a', label, lens: 'people', lens_id: 'lens_1', lens_version: '1', entity_type: 'person' },
    ...{ run_id: 'run_1', state: 'live', members: refs('a', 'b'), size: 2, lineage: { merged_from: [] } },
    ...{ created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' },
    ...fields,
  }
}

test('an entity with the same records takes the run, and keeps its lineage, its changes and the stricter label', () => {
  const lineage = { merged_from: ['ent_2'] }
  const secret = { ...label, level: 'SECRET' }
  const before = buildEntity({ lineage, changes: 3, label: secret })
  const next = buildEntity({ run_id: 'run_2', members: refs('b', 'a'), changes: 1 })
  expect(mergeUnchangedEntity(before, next, policy)).toMatchObject({
    ...{ run_id: 'run_2', lineage, changes: 3, label: { level: 'SECRET' } },
  })
  expect(mergeUnchangedEntity(buildEntity(), buildEntity({ label: secret }), policy)?.label.level).toBe('SECRET')
})

test('an entity that was merged, deleted or given other records meanwhile is not overwritten', () => {
  for (const before of [
    buildEntity({ state: 'merged', members: [], size: 0 }),
    buildEntity({ state: 'deleted', members: [], size: 0 }),
    buildEntity({ members: refs('a', 'b', 'c'), size: 3 }),
  ])
    expect(mergeUnchangedEntity(before, buildEntity({ run_id: 'run_2' }), policy)).toBeUndefined()
})
