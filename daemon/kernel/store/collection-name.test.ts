// Names of collections: hyphens are allowed, and no two names become one table.
import { expect, test } from 'vitest'
import { requireCollectionName } from './collection-name.ts'

test.each(['proxy', 'data-ingest', 'workflow-metrics', 'guide_graph_nodes', 'a1-b2_c3'])('%s is a name', (name) => {
  expect(requireCollectionName(name)).toBe(name)
})

test.each(['', 'Proxy', '1st', 'a--b', 'a__b', 'a-_b', '-a', 'a-', 'a_', 'a.b', 'a b', 'a"b', 'ä'])(
  '%j is refused',
  (name) => {
    expect(() => requireCollectionName(name)).toThrow(/cannot be named/)
  },
)
