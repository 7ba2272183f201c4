// No operation or worker of the service computes comparisons on the event loop: it does not even load the code for it.
import { expect, test } from 'vitest'
import { readSource } from '../../support/repository/source-tree.ts'

const service = ['daemon/roles/resolution/role.ts', 'daemon/runtime/resolution/wire.ts']
const engine = 'daemon/roles/resolution/engine'
const threadOnly = [
  `${engine}/lookup/lookup-index.ts`,
  `${engine}/lookup/key-postings.ts`,
  `${engine}/lookup/text-table.ts`,
  `${engine}/lookup/compare.ts`,
  `${engine}/lookup/normalise-record.ts`,
  `${engine}/compare/pair-comparer.ts`,
  `${engine}/text/string-matcher.ts`,
  `${engine}/text/tfidf-vectors.ts`,
  `${engine}/cluster/constraints.ts`,
  'daemon/roles/resolution/registry/join-arrivals.ts',
  'daemon/roles/resolution/registry/cluster-with-decisions.ts',
  'daemon/roles/resolution/lookup/entity-candidates.ts',
]

/** All files that are loaded with these. */
function listLoaded(entries: readonly string[]): Set<string> {
  const loaded = new Set<string>()
  const waiting = [...entries]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (loaded.has(file) || !file.endsWith('.ts')) continue
    loaded.add(file)
    waiting.push(...readSource(file).loads)
  }
  return loaded
}

test('the service loads no code that compares or clusters records', () => {
  const loaded = listLoaded(service)
  expect(threadOnly.filter((file) => loaded.has(file))).toEqual([])
})

test('the matching thread loads all of it', () => {
  const loaded = listLoaded(['daemon/runtime/resolution/matching-thread.ts'])
  expect(threadOnly.filter((file) => !loaded.has(file))).toEqual([])
})
