// Removes what a query finds, some at a time, so that each request ends well within its time limit.
import { deleted, refreshed } from './answers.ts'
import type { Cluster } from './cluster.ts'
import type { Query } from './query.ts'
import type { Table } from './table.ts'

const chunk = 2_000

/** How many were removed. What was changed meanwhile is judged again. @throws ClusterFailure: some may be gone then. */
export async function removeAll(cluster: Cluster, { alias }: Table, query: Query, scroll: string): Promise<number> {
  const how = { conflicts: 'proceed', scroll, max_docs: chunk, scroll_size: chunk }
  let total = 0
  for (;;) {
    await cluster.ask({ method: 'POST', path: `/${alias}/_refresh` }, refreshed)
    const request = { method: 'POST', path: `/${alias}/_delete_by_query`, query: how, body: { query } } as const
    const done = await cluster.ask(request, deleted)
    total += done.deleted
    if (done.version_conflicts === 0 && done.deleted < chunk) return total
  }
}
