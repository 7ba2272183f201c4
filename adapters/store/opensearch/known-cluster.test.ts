// When a cluster is asked who it is, and what follows: with answers that no real one gives when a test wants them.
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { OpensearchCluster } from './cluster.ts'
import { ClusterFailure } from './cluster-failure.ts'
import { type ClusterLocation, type ClusterMemory, knownCluster } from './known-cluster.ts'

/** Answers who it is by `next`, and `ok` to all else, unless it is told to fail; `asked` are the paths. */
function createCluster() {
  const asked: string[] = []
  const state = { identity: 'first', failing: undefined as ClusterFailure | undefined, asked }
  const cluster: OpensearchCluster = {
    timeout_ms: 1_000,
    async request({ path }, answer) {
      asked.push(path)
      if (state.failing) throw state.failing
      return answer.parse(path === '/' ? { cluster_uuid: state.identity } : 'ok')
    },
    close: async () => undefined,
  }
  return { state, cluster }
}

function createMemory(place?: ClusterLocation): ClusterMemory {
  let held = place
  return {
    place: () => held,
    async settleAt(given) {
      held ??= given
    },
    indexes: () => [],
    addIndex: async () => undefined,
  }
}

const write = { method: 'POST', path: '/_bulk' } as const
const anything = z.string()

test('the first cluster that is reached is remembered, before anything else is asked of it', async () => {
  const { state, cluster } = createCluster()
  const memory = createMemory()
  const known = knownCluster(cluster, { memory, base: 'platform.alpha.' })
  expect(await Promise.all([known.request(write, anything), known.request(write, anything)])).toEqual(['ok', 'ok'])
  expect(memory.place()).toEqual({ cluster: 'first', base: 'platform.alpha.' })
  expect(state.asked).toEqual(['/', '/_bulk', '/_bulk'])
})

for (const [other, place] of Object.entries({
  cluster: { cluster: 'second', base: 'platform.alpha.' },
  prefix: { cluster: 'first', base: 'other.alpha.' },
})) {
  test(`another ${other} is asked nothing, and changes no memory`, async () => {
    const { state, cluster } = createCluster()
    const memory = createMemory(place)
    const known = knownCluster(cluster, { memory, base: 'platform.alpha.' })
    await expect(known.request(write, anything)).rejects.toMatchObject({ effect: 'undone' })
    expect(state.asked).toEqual(['/'])
    expect(memory.place()).toEqual(place)
  })
}

test('after a failure it is asked again who it is: the cluster behind the address may have changed', async () => {
  const { state, cluster } = createCluster()
  const known = knownCluster(cluster, { memory: createMemory(), base: 'platform.alpha.' })
  await known.request(write, anything)
  state.failing = new ClusterFailure('unknown', 'the connection broke')
  await expect(known.request(write, anything)).rejects.toMatchObject({ effect: 'unknown' })
  // The write itself is not sent now: whatever becomes of the question, nothing was done.
  await expect(known.request(write, anything)).rejects.toMatchObject({ effect: 'undone', type: 'the connection broke' })
  expect(state.asked).toEqual(['/', '/_bulk', '/_bulk', '/'])
  state.failing = undefined
  state.identity = 'second'
  await expect(known.request(write, anything)).rejects.toThrow(/not the cluster/)
  state.identity = 'first'
  expect(await known.request(write, anything)).toBe('ok')
})

test('a node that has found no cluster yet has no identity to be remembered', async () => {
  const { state, cluster } = createCluster()
  const memory = createMemory()
  state.identity = '_na_'
  const known = knownCluster(cluster, { memory, base: 'platform.alpha.' })
  await expect(known.request(write, anything)).rejects.toThrow(/not formed/)
  expect(memory.place()).toBeUndefined()
})
