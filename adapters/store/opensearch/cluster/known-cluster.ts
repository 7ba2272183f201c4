// Verifies the identity of the cluster before the first request: indexes of another cluster are not this site's, whatever their names.
import * as z from 'zod'
import type { OpensearchCluster } from './cluster.ts'
import { ClusterFailure } from './cluster-failure.ts'

/** `cluster`: its UUID, which it gave itself when it was formed. `base`: what all index names of the site begin with. */
export type ClusterLocation = { readonly cluster: string; readonly base: string }

/** Records in a role's own file where its documents are in a cluster. Durable when a promise resolves. */
export type ClusterMemory = {
  /** Undefined until a cluster was first reached. */
  place(): ClusterLocation | undefined
  /** Changes nothing where a place is known already. */
  recordLocation(place: ClusterLocation): Promise<void>
  /** Names (aliases) of the indexes that were made or found. */
  indexes(): readonly string[]
  addIndex(name: string): Promise<void>
}

export type ClusterBinding = { readonly memory: ClusterMemory; readonly base: string }

const identityResponse = z.object({ cluster_uuid: z.string().min(1) })
/** A cluster that does not identify itself within this time counts as unreachable, so that callers fail early. */
const identity_timeout_ms = 3_000
/** UUID that a node reports before it has joined a cluster. */
const unformed_uuid = '_na_'

/** The cluster's UUID. @throws ClusterFailure: nothing was done. */
export async function readClusterUuid(cluster: OpensearchCluster): Promise<string> {
  const timeout_ms = Math.min(cluster.timeout_ms, identity_timeout_ms)
  try {
    const { cluster_uuid } = await cluster.request({ method: 'GET', path: '/', timeout_ms }, identityResponse)
    if (cluster_uuid !== unformed_uuid) return cluster_uuid
  } catch (error) {
    if (error instanceof ClusterFailure) throw new ClusterFailure('undone', error.type, error.retry_after_s)
    throw error
  }
  throw new ClusterFailure('undone', 'the cluster is not formed yet')
}

/** Verifies again after each failure, since another cluster may answer then. The first cluster that is reached is remembered. */
export function knownCluster(cluster: OpensearchCluster, { memory, base }: ClusterBinding): OpensearchCluster {
  let known: Promise<void> | undefined
  const recognise = async () => {
    const found = await readClusterUuid(cluster)
    if (!memory.place()) await memory.recordLocation({ cluster: found, base })
    const place = memory.place()
    if (place?.cluster === found && place.base === base) return
    throw new ClusterFailure('undone', 'this is not the cluster that the documents are in', 60)
  }
  return {
    timeout_ms: cluster.timeout_ms,
    async request(request, answer) {
      const sure = known ?? recognise()
      known = sure
      try {
        await sure
        return await cluster.request(request, answer)
      } catch (error) {
        if (known === sure) known = undefined
        throw error
      }
    },
    close: () => cluster.close(),
  }
}
