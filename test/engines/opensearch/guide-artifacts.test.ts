// Artifacts on a real cluster: the same random changes, with crashes at writes, as on SQLite.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { artifactCollections } from '../../../daemon/roles/gateway/guide/artifact-operations.ts'
import { openClusterStore } from '../../conformance/opensearch-variant.ts'
import { runLifecycle } from '../../simulation/guide/lifecycle-world.ts'
import { raceAcceptance } from '../../simulation/guide/set-acceptance.ts'
import { walkModel } from '../../simulation/guide/walk-model.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(opensearchRequirement)
let cluster: OpenSearch
let opened: ReturnType<typeof openClusterStore>
let [folder, prefix] = ['', '']

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  cluster = sharedOpenSearch()
  await cluster.start()
})
afterAll(() => cluster?.end())
beforeEach(() => {
  if (!cluster) return
  folder = mkdtempSync(path.join(tmpdir(), 'guide-'))
  prefix = `guide${randomUUID()}-`
  opened = openClusterStore(cluster.url, folder, prefix, 20_000, undefined, artifactCollections)
})
afterEach(async () => {
  await opened?.close()
  await cluster?.request('DELETE', `/${prefix}*`)
  rmSync(folder, { recursive: true, force: true })
})

where('random changes have the outcomes of a plain model', async () => {
  const { made, refused } = await walkModel(opened.store, 11, 40)
  expect(Math.min(made, refused)).toBeGreaterThan(5)
})

where(
  'no version is lost, none has two contents, and each change is recorded, for four parties that crash',
  async () => {
    const { counts } = await runLifecycle(opened.store, { seed: 12, rounds: 15, parties: 4, failing: 0.1 })
    expect(Math.min(counts.done, counts.crashed)).toBeGreaterThan(0)
  },
)

where('a set that parties accept at once, some of which crash, becomes active once', async () => {
  expect(await raceAcceptance(opened.store, 6)).toEqual({
    status: 'accepted',
    artifacts: Array.from({ length: 6 }, () => 'active 2 '),
    outcomes: Array.from({ length: 6 }, () => 'active'),
  })
})
