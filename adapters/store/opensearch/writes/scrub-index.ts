// Merges away what was removed or replaced in an index, so that its files do not hold it any longer.
import * as z from 'zod'
import type { OpensearchCluster } from '../cluster/cluster.ts'
import { refreshResponse } from '../cluster/response-schemas.ts'

/** By default a merge leaves the removed documents of a segment where they are less than a tenth of it. */
const settings = { index: { merge: { policy: { expunge_deletes_allowed: 0 } } } }

const acknowledged = z.object({ acknowledged: z.literal(true) })
const started = z.object({ task: z.string() })

/**
 * The cluster merges after the answer, and removes the files at its next refresh. It keeps the last operations of a shard for
 * its copies, half a minute long: call it after that time. @throws ClusterFailure.
 */
export async function scrubIndex(cluster: OpensearchCluster, alias: string): Promise<void> {
  // A search in use keeps the files of segments that were merged away.
  await cluster.request({ method: 'POST', path: `/${alias}/_refresh` }, refreshResponse)
  await cluster.request({ method: 'PUT', path: `/${alias}/_settings`, body: settings }, acknowledged)
  await cluster.request({ method: 'POST', path: `/${alias}/_flush`, query: { force: true } }, refreshResponse)
  const query = { only_expunge_deletes: true, wait_for_completion: false }
  await cluster.request({ method: 'POST', path: `/${alias}/_forcemerge`, query }, started)
}
