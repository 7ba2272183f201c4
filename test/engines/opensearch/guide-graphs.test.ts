// Decision graphs on a real cluster, by the same suite as on SQLite: updates, kills at writes, copies in memory, snapshots and rollbacks.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Store } from '../../../daemon/kernel/store/store.ts'
import { openClusterStore } from '../../conformance/opensearch-variant.ts'
import { checkCopies, checkKills, checkRollback } from '../../roles/gateway/guide/graph-suite.ts'
import { guideCollections } from '../../roles/gateway/guide/graph-world.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(opensearchRequirement)
const run = `graphs${randomUUID()}`
const opened: ReturnType<typeof openClusterStore>[] = []
let cluster: OpenSearch
let folder = ''

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  cluster = sharedOpenSearch()
  await cluster.start()
  folder = mkdtempSync(path.join(tmpdir(), 'guide-'))
})
afterAll(async () => {
  for (const { close } of opened) await close()
  await cluster?.request('DELETE', `/${run}*`)
  await cluster?.end()
  rmSync(folder, { recursive: true, force: true })
})

/** Empty each time: in indexes of its own. */
function open(): Store {
  const own = path.join(folder, String(opened.length))
  const next = openClusterStore(cluster.url, own, `${run}-${opened.length}-`, 20_000, undefined, guideCollections)
  opened.push(next)
  return next.store
}

where('a kill at a write leaves the graphs as they are without it', async () => {
  await checkKills(open, 150)
})

where('the copy in memory is that of the cluster, in the process that wrote it and in one that reads it', async () => {
  await checkCopies(open())
})

where('a graph becomes that of a snapshot, whichever write a kill falls on', async () => {
  await checkRollback(open, 45)
})
