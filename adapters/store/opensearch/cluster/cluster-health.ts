// Checks if the cluster can serve now, and describes the result in one line for the role's health.
import * as z from 'zod'
import { findLostIndexes } from '../indexes/open-index.ts'
import type { OpensearchCluster } from './cluster.ts'
import { ClusterFailure } from './cluster-failure.ts'
import type { ClusterBinding } from './known-cluster.ts'

const health_timeout_ms = 3_000
const healthResponse = z.object({ status: z.enum(['green', 'yellow', 'red']) })

/** `unsettled`: writes whose outcome is not known yet. */
export async function clusterHealth(
  cluster: OpensearchCluster,
  prefix: string,
  binding: ClusterBinding,
  unsettled: number,
) {
  const doubt = unsettled > 0 ? `; ${unsettled} writes without a known outcome` : ''
  try {
    const path = `/_cluster/health/${prefix}*`
    const query = { timeout: '2s' }
    const { status } = await cluster.request(
      { method: 'GET', path, query, timeout_ms: health_timeout_ms },
      healthResponse,
    )
    const lost = await findLostIndexes(cluster, binding, health_timeout_ms)
    const missing = lost.length > 0 ? `; lost: ${lost.join(', ')}: restore from a snapshot` : ''
    return { ok: status !== 'red' && lost.length === 0, detail: `opensearch ${status}${missing}${doubt}` }
  } catch (error) {
    const why = error instanceof ClusterFailure ? error.type : 'an unexpected answer'
    return { ok: false, detail: `opensearch: ${why}${doubt}` }
  }
}
