// Options of the store in a cluster, and its functions beyond the contract.
import type { PendingAudit } from '../../../daemon/kernel/audit/pending-audit.ts'
import type { Store } from '../../../daemon/kernel/store/store.ts'
import type { IndexPlacement, SchemaCollection } from './indexes/table.ts'
import type { BacklogLimits } from './writes/write-backpressure.ts'

export type OpensearchStoreOptions = IndexPlacement & {
  readonly pendingAudit: PendingAudit
  readonly collections: readonly SchemaCollection[]
  /** How long the cluster keeps its place in a removal, as in `5m`. */
  readonly scroll: string
  /** Limits of waiting writes; the standard limits apply by default. */
  readonly backlogLimits?: BacklogLimits
}

/**
 * Adds two functions to the contract. `resolveWrites` resolves writes that a broken connection or a dead process left
 * in doubt; it returns the failures by collection, none when no write is in doubt. `findLostIndexes` names the indexes
 * that were created and no longer exist.
 */
export type ClusterStore = Store & {
  resolveWrites(): Promise<ReadonlyMap<string, string>>
  findLostIndexes(): Promise<readonly string[]>
}
