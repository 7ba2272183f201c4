// Copies changes of entities to the log, soon after each.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { appendChanges, finishBatches } from '../entity-change/append-changes.ts'
import { entityClusters, type StoredCluster } from '../entity-cluster/model.ts'

export const entityChangesWorker: Worker = { name: 'entity-changes', when: { every_ms: 5_000 }, run }

const page_size = 500

async function run(call: Call): Promise<void> {
  await finishBatches(call)
  let page: Doc<StoredCluster>[] = []
  for await (const doc of iterateDocuments(call.store(entityClusters), {
    filter: { unlogged: 1 },
    fresh: true,
    page_size,
  })) {
    page.push(doc)
    if (page.length < page_size) continue
    await appendPage(call, page)
    page = []
  }
  await appendPage(call, page)
}

async function appendPage(call: Call, page: readonly Doc<StoredCluster>[]): Promise<void> {
  for (const [tenant_id, docs] of Map.groupBy(page, ({ value }) => value.tenant_id)) {
    if (call.signal.aborted) return
    await appendChanges(call, tenant_id, docs).catch((error: unknown) => {
      if (call.signal.aborted) return
      // A failure for one tenant must not delay the others.
      const { trace_id } = call.trace
      call.log.error('resolution.entity-change.not_stored', { trace_id, tenant: tenant_id, error: String(error) })
    })
  }
}
