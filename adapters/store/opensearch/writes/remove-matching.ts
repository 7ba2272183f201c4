// Removes the documents that match a query in batches, so that each request ends well within its time limit.

import type { OpensearchCluster } from '../cluster/cluster.ts'
import { deleteByQueryResponse, refreshResponse } from '../cluster/response-schemas.ts'
import type { OpensearchTable } from '../indexes/table.ts'
import type { SearchQuery } from '../reads/query.ts'

const removal_batch_size = 2_000

/** Returns the number removed; changed documents are matched again. @throws ClusterFailure, possibly after removals. */
export async function removeMatching(
  cluster: OpensearchCluster,
  { alias }: OpensearchTable,
  query: SearchQuery,
  scroll: string,
): Promise<number> {
  const how = { conflicts: 'proceed', scroll, max_docs: removal_batch_size, scroll_size: removal_batch_size }
  let total = 0
  for (;;) {
    await cluster.request({ method: 'POST', path: `/${alias}/_refresh` }, refreshResponse)
    const request = { method: 'POST', path: `/${alias}/_delete_by_query`, query: how, body: { query } } as const
    const done = await cluster.request(request, deleteByQueryResponse)
    total += done.deleted
    if (done.version_conflicts === 0 && done.deleted < removal_batch_size) return total
  }
}
