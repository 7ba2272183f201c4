// Whether the cluster can serve now, in a line for the role's health.
import * as z from 'zod'
import type { Cluster } from './cluster.ts'
import { ClusterFailure } from './failure.ts'
import type { Known } from './known-cluster.ts'
import { lostIndexes } from './made-once.ts'

const patience_ms = 3_000
const answer = z.object({ status: z.enum(['green', 'yellow', 'red']) })

/** `unsettled`: writes whose outcome is not known yet. */
export async function clusterHealth(cluster: Cluster, prefix: string, known: Known, unsettled: number) {
  const doubt = unsettled > 0 ? `; ${unsettled} writes to be settled` : ''
  try {
    const path = `/_cluster/health/${prefix}*`
    const query = { timeout: '2s' }
    const { status } = await cluster.ask({ method: 'GET', path, query, timeout_ms: patience_ms }, answer)
    const lost = await lostIndexes(cluster, known, patience_ms)
    const missing = lost.length > 0 ? `; lost: ${lost.join(', ')}: restore from a snapshot` : ''
    return { ok: status !== 'red' && lost.length === 0, detail: `opensearch ${status}${missing}${doubt}` }
  } catch (error) {
    const why = error instanceof ClusterFailure ? error.type : 'an answer that was not expected'
    return { ok: false, detail: `opensearch: ${why}${doubt}` }
  }
}
