// What boot loads when a site keeps its documents in a cluster: one role's store there, and the copies of its audit chain.

import type { AuditLog } from '../../../daemon/kernel/audit.ts'
import type { OwedAudit } from '../../../daemon/kernel/owed-audit.ts'
import { AuditShipping, type ShippedTo } from './audit-shipping.ts'
import { type ClusterOptions, cluster } from './cluster.ts'
import { type ClusterStore, opensearchStore } from './store.ts'
import type { SomeCollection } from './table.ts'

export type RoleInCluster = ClusterOptions & {
  /** First part of the site's index names: `<index_prefix>.<site>`. */
  readonly base: string
  readonly role: string
  readonly replicas: number
  readonly scroll: string
  readonly collections: readonly SomeCollection[]
  readonly owed: OwedAudit
  readonly audit: AuditLog
  readonly shippedTo: ShippedTo
}

/** Asks the cluster nothing yet. @throws when a file of keys or certificates cannot be read. */
export function openInCluster(given: RoleInCluster): { store: ClusterStore; shipping: AuditShipping } {
  const { base, role, replicas, scroll, collections, owed, audit, shippedTo } = given
  const opened = cluster(given)
  const store = opensearchStore(opened, { prefix: `${base}.${role}.`, replicas, scroll, collections, owed })
  return { store, shipping: new AuditShipping(opened, { alias: `${base}.audit`, replicas, audit, shippedTo }) }
}
