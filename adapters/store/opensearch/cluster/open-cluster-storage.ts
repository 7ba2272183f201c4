// Opens the storage of a site with its documents in a cluster: one role's store there, and the copies of its audit chain.

import type { AuditLog } from '../../../../daemon/kernel/audit/audit-chain.ts'
import type { PendingAudit } from '../../../../daemon/kernel/audit/pending-audit.ts'
import { AuditShipping, type ShippingPosition } from '../audit-shipping.ts'
import type { ClusterStore } from '../cluster-store.ts'
import { findForeignIndex } from '../indexes/documented-alias.ts'
import { findLostIndexes } from '../indexes/open-index.ts'
import type { SchemaCollection } from '../indexes/table.ts'
import { opensearchStore } from '../store.ts'
import { type ClusterOptions, type OpensearchCluster, openCluster } from './cluster.ts'
import { type ClusterMemory, knownCluster, readClusterUuid } from './known-cluster.ts'

export type ClusterStorageOptions = ClusterOptions & {
  /** Prefix of the index names of the site: `<index_prefix>.<site>.` */
  readonly base: string
  /** Prefix of the index names of this role, after that of the site. */
  readonly prefix: string
  /** Prefix of the documented names of collections. */
  readonly alias_prefix: string
  /** What settings call some documented names. */
  readonly alias_names: Readonly<Record<string, string>>
  readonly replicas: number
  readonly scroll: string
  readonly collections: readonly SchemaCollection[]
  readonly pendingAudit: PendingAudit
  readonly audit: AuditLog
  readonly shippingPosition: ShippingPosition
  readonly memory: ClusterMemory
}

export type ClusterStorage = {
  readonly store: ClusterStore
  readonly shipping: AuditShipping
  /** The UUID of the cluster that answers; undefined while none does. */
  readClusterUuid(): Promise<string | undefined>
  /** Indexes that were made, and that the cluster that answers does not have. @throws ClusterFailure. */
  findLostIndexes(): Promise<readonly string[]>
  /** A documented name of this role that another site has, with the index there; undefined while none answers. */
  findForeignAlias(): Promise<string | undefined>
}

/** Sends no request yet. @throws when a file of keys or certificates cannot be read. */
export function openClusterStorage(options: ClusterStorageOptions): ClusterStorage {
  const { base, prefix, alias_prefix, alias_names, replicas, memory } = options
  const { scroll, collections, pendingAudit, audit, shippingPosition } = options
  const placement = { base, memory, prefix, alias_prefix, alias_names, replicas }
  const unverified = openCluster(options)
  const opened = knownCluster(unverified, options)
  return {
    store: opensearchStore(opened, { ...placement, scroll, collections, pendingAudit }),
    shipping: new AuditShipping(opened, { alias: `${base}audit`, replicas, memory, audit, position: shippingPosition }),
    readClusterUuid: () => readClusterUuid(unverified).catch(() => undefined),
    findLostIndexes: () => findLostIndexes(unverified, options),
    findForeignAlias: () => findForeignAlias(unverified, options).catch(() => undefined),
  }
}

async function findForeignAlias(
  cluster: OpensearchCluster,
  { base, alias_prefix, alias_names, collections }: ClusterStorageOptions,
): Promise<string | undefined> {
  const names = collections.flatMap(({ documented }) =>
    documented ? [`${alias_prefix}${alias_names[documented.alias] ?? documented.alias}`] : [],
  )
  for (const alias of new Set(names)) {
    const index = await findForeignIndex(cluster, { alias, base })
    if (index) return `${alias} leads to ${index}`
  }
  return undefined
}
