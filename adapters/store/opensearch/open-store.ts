// What boot loads when a site keeps its documents in a cluster: one role's store there, and the copies of its audit chain.

import type { AuditLog } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { PendingAudit } from '../../../daemon/kernel/audit/pending-audit.ts'
import { AuditShipping, type ShippedTo } from './audit-shipping.ts'
import { type ClusterOptions, cluster } from './cluster.ts'
import type { ClusterStore } from './cluster-store.ts'
import { type ClusterMemory, clusterIdentity, knownCluster } from './known-cluster.ts'
import { lostIndexes } from './made-once.ts'
import { opensearchStore } from './store.ts'
import type { SomeCollection } from './table.ts'

export type RoleInCluster = ClusterOptions & {
  /** What the site's index names begin with: `<index_prefix>.<site>.` */
  readonly base: string
  /** What those of this role begin with, further. */
  readonly prefix: string
  readonly replicas: number
  readonly scroll: string
  readonly collections: readonly SomeCollection[]
  readonly owed: PendingAudit
  readonly audit: AuditLog
  readonly shippedTo: ShippedTo
  readonly memory: ClusterMemory
}

export type InCluster = {
  readonly store: ClusterStore
  readonly shipping: AuditShipping
  /** The UUID of the cluster that answers; undefined while none does. */
  identity(): Promise<string | undefined>
  /** Indexes that were made, and that the cluster that answers does not have. @throws ClusterFailure. */
  missing(): Promise<readonly string[]>
}

/** Asks the cluster nothing yet. @throws when a file of keys or certificates cannot be read. */
export function openInCluster(given: RoleInCluster): InCluster {
  const { base, prefix, replicas, scroll, collections, owed, audit, shippedTo, memory } = given
  const whoever = cluster(given)
  const opened = knownCluster(whoever, given)
  return {
    store: opensearchStore(opened, { base, memory, prefix, replicas, scroll, collections, owed }),
    shipping: new AuditShipping(opened, { alias: `${base}audit`, replicas, memory, audit, shippedTo }),
    identity: () => clusterIdentity(whoever).catch(() => undefined),
    missing: () => lostIndexes(whoever, given),
  }
}
