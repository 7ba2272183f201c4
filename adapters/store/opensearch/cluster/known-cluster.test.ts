// Checks of the cluster identity, with responses that a real cluster does not give on demand.
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { OpensearchCluster } from './cluster.ts'
import { ClusterFailure } from './cluster-failure.ts'
import { type ClusterLocation, type ClusterMemory, knownCluster } from './known-cluster.ts'

/** Responds with `identity`, and with `ok` to other paths, unless `failing`; `paths` lists the requests. */
function createCluster() {
  const paths: string[] = []
  const state = { identity: 'first', failing: undefined as ClusterFailure | undefined, paths }
  const cluster: OpensearchCluster = {
    timeout_ms: 1_000,
    async request({ path }, answer) {
      paths.push(path)
      if (state.failing) throw state.failing
      return answer.parse(path === '/' ? { cluster_uuid: state.identity } : 'ok')
    },
    close: async () => undefined,
  }
  return { state, cluster }
}

function createMemory(location?: ClusterLocation): ClusterMemory {
  let recorded = location
  return {
    place: () => recorded,
    async recordLocation(found) {
      recorded ??= found
    },
    indexes: () => [],
    addIndex: async () => undefined,
  }
}

const write = { method: 'POST', path: '/_bulk' } as const
const anything = z.string()

test('the first cluster that is reached is recorded before any other request', async () => {
  const { state, cluster } = createCluster()
  const memory = createMemory()
  const known = knownCluster(cluster, { memory, base: 'platform.alpha.' })
  expect(await Promise.all([known.request(write, anything), known.request(write, anything)])).toEqual(['ok', 'ok'])
  expect(memory.place()).toEqual({ cluster: 'first', base: 'platform.alpha.' })
  expect(state.paths).toEqual(['/', '/_bulk', '/_bulk'])
})

for (const [other, place] of Object.entries({
  cluster: { cluster: 'second', base: 'platform.alpha.' },
  prefix: { cluster: 'first', base: 'other.alpha.' },
})) {
  test(`another ${other} receives no other request, and the record stays`, async () => {
    const { state, cluster } = createCluster()
    const memory = createMemory(place)
    const known = knownCluster(cluster, { memory, base: 'platform.alpha.' })
    await expect(known.request(write, anything)).rejects.toMatchObject({ effect: 'undone' })
    expect(state.paths).toEqual(['/'])
    expect(memory.place()).toEqual(place)
  })
}

test('after a failure the identity is checked again: the cluster behind the address may have changed', async () => {
  const { state, cluster } = createCluster()
  const known = knownCluster(cluster, { memory: createMemory(), base: 'platform.alpha.' })
  await known.request(write, anything)
  state.failing = new ClusterFailure('unknown', 'the connection broke')
  await expect(known.request(write, anything)).rejects.toMatchObject({ effect: 'unknown' })
  // The write itself is not sent now, so its effect is `undone` whatever the check returns.
  await expect(known.request(write, anything)).rejects.toMatchObject({ effect: 'undone', type: 'the connection broke' })
  expect(state.paths).toEqual(['/', '/_bulk', '/_bulk', '/'])
  state.failing = undefined
  state.identity = 'second'
  await expect(known.request(write, anything)).rejects.toThrow(/not the cluster/)
  state.identity = 'first'
  expect(await known.request(write, anything)).toBe('ok')
})

test('a node that has not joined a cluster has no identity to record', async () => {
  const { state, cluster } = createCluster()
  const memory = createMemory()
  state.identity = '_na_'
  const known = knownCluster(cluster, { memory, base: 'platform.alpha.' })
  await expect(known.request(write, anything)).rejects.toThrow(/not formed/)
  expect(memory.place()).toBeUndefined()
})
