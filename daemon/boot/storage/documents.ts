// Opens the documents of a role: in its own SQLite file, or in the cluster of the settings, never in both.
import { product } from '../../../adapters/platform/product/product.ts'
import type { ClusterStorage } from '../../../adapters/store/opensearch/cluster/open-cluster-storage.ts'
import type { SqliteAudit } from '../../../adapters/store/sqlite/audit/audit.ts'
import { auditShippingPosition } from '../../../adapters/store/sqlite/audit/audit-shipping-position.ts'
import { sqlitePendingAudit } from '../../../adapters/store/sqlite/audit/pending-audit.ts'
import { documentsCluster } from '../../../adapters/store/sqlite/documents/documents-cluster.ts'
import {
  type DocumentsHome,
  readDocumentsHome,
  recordDocumentsHome,
} from '../../../adapters/store/sqlite/documents/documents-home.ts'
import { migrateDocuments, recordSchemaVersions } from '../../../adapters/store/sqlite/schema/schema-versions.ts'
import type { SqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import { sqliteStore } from '../../../adapters/store/sqlite/store.ts'
import type { Role, RoleOutline } from '../../kernel/role/role.ts'
import { searchSettings } from '../../kernel/settings/backing-service-settings.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { StartRefusal } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { retriedTask } from './retried-task.ts'
import type { RoleStorage } from './role-storage.ts'
import { requireKnownVersions } from './store-versions.ts'

const audit_copies = 'copies of the audit chain'

export type DocumentStoreOptions = {
  readonly role: Role
  readonly site: string
  readonly resolved: ResolvedSettings
  readonly file: SqliteFile
  readonly audit: SqliteAudit
}

export function chooseDocumentsHome(resolved: ResolvedSettings): DocumentsHome {
  return getSettings(resolved, searchSettings).host === undefined ? 'sqlite' : 'opensearch'
}

/**
 * Migrates documents of earlier releases first; the caller holds the lock of the role. Throws `StartRefusal` if a later
 * release wrote the documents, or if they are elsewhere: a new, empty store would diverge from them.
 */
export async function openDocuments(
  options: DocumentStoreOptions,
): Promise<Pick<RoleStorage, 'store' | 'upgrades' | 'retriedTasks' | 'expireAuditCopies' | 'lostIndexes'>> {
  const { file, role, audit, resolved } = options
  requireKnownVersions(file, role)
  const home = chooseDocumentsHome(resolved)
  const recordedHome = readDocumentsHome(file)
  if (recordedHome !== undefined && recordedHome !== home) {
    const message = `the documents of ${role.name} are in ${recordedHome}, and this asks for ${home}: run \`platform store migrate ${home === 'opensearch' ? 'cluster' : 'files'}\``
    throw new StartRefusal([{ path: 'search.host', message }])
  }
  if (home === 'sqlite') {
    const upgrades = await migrateDocuments(file, role.collections, product.version)
    return { store: sqliteStore(file, { audit, collections: role.collections }), upgrades }
  }
  if (recordedHome === undefined) {
    await resetClusterState(file)
    await recordDocumentsHome(file, home)
  }
  const { store, shipping } = await openKnownCluster(options)
  // The documents themselves are migrated when their index is first used, since the cluster may not be reachable yet.
  await recordSchemaVersions(file, role.collections, product.version)
  return {
    store,
    upgrades: [],
    retriedTasks: [
      retriedTask('resolve-writes', 'writes in doubt', () => store.resolveWrites()),
      retriedTask('ship-audit', audit_copies, async (signal) => {
        const { differs } = await shipping.ship(signal)
        return new Map(differs === undefined ? [] : [[audit_copies, `record ${differs} differs from its copy`]])
      }),
    ],
    expireAuditCopies: async (before_ms) => shipping.expire(before_ms, (await audit.head()).writer),
    lostIndexes: () => store.findLostIndexes(),
  }
}

/** Forgets an earlier cluster: the next one that answers is recorded, and receives the whole audit chain. */
export async function resetClusterState(file: SqliteFile): Promise<void> {
  await auditShippingPosition(file).set(0)
  await documentsCluster(file).forget()
}

/** Records another cluster as the home of the documents, without the indexes that are given up. */
export async function adoptCluster(file: SqliteFile, cluster: string, given_up: readonly string[]): Promise<void> {
  // A snapshot is older than the chain.
  await auditShippingPosition(file).set(0)
  await documentsCluster(file).adopt(cluster, given_up)
}

/**
 * Opens the cluster that holds the documents; loads its client on first use. Throws `StartRefusal` if the settings name no
 * cluster, or another cluster or prefix than the recorded one. A cluster that does not answer is checked once it does.
 */
export async function openKnownCluster(options: DocumentStoreOptions): Promise<ClusterStorage> {
  requireIndexBase(options)
  const cluster = await openCluster(options)
  try {
    await requireSameCluster(options, cluster)
    await requireOwnAliases(options, cluster)
    return cluster
  } catch (error) {
    await cluster.store.close()
    throw error
  }
}

/** Opens the configured cluster without comparing it with the recorded one. */
export async function openCluster({
  file,
  audit,
  role,
  site,
  resolved,
}: DocumentStoreOptions): Promise<ClusterStorage> {
  const { openClusterStorage } = await import('../../../adapters/store/opensearch/cluster/open-cluster-storage.ts')
  const { host, timeout, index_prefix, alias_prefix, pki_ca, pki_cert, pki_key, ...options } = getSettings(
    resolved,
    searchSettings,
  )
  if (host === undefined)
    throw new StartRefusal([
      { path: 'search.host', message: 'the documents are in a cluster, and search.host is not set' },
    ])
  return openClusterStorage({
    ...options,
    url: host,
    ca_file: pki_ca,
    cert_file: pki_cert,
    key_file: pki_key,
    timeout_ms: timeout * 1_000,
    base: indexBase(index_prefix, site),
    alias_prefix: alias_prefix ?? indexBase(index_prefix, site),
    alias_names: role.documentedNames?.(resolved) ?? {},
    prefix: indexPrefix(role, index_prefix, site),
    collections: role.collections,
    pendingAudit: sqlitePendingAudit(file, audit),
    audit,
    shippingPosition: auditShippingPosition(file),
    memory: documentsCluster(file),
  })
}

/** Common prefix of all index names of a site. */
function indexBase(index_prefix: string, site: string): string {
  return `${index_prefix}.${site}.`
}

/** Prefix of the index names of a role; the name of a collection follows. */
export function indexPrefix({ name, index_family = name }: RoleOutline, index_prefix: string, site: string): string {
  return `${indexBase(index_prefix, site)}${index_family}.`
}

/** Throws `StartRefusal` if the settings change the names of existing indexes. */
export function requireIndexBase({ role, site, resolved, file }: DocumentStoreOptions): void {
  const knownCluster = documentsCluster(file).place()
  const base = indexBase(getSettings(resolved, searchSettings).index_prefix, site)
  if (!knownCluster || knownCluster.base === base) return
  const remedy = 'set it back, or move the documents: `platform store migrate files` under the old, then `cluster`'
  const message = `the documents of ${role.name} are in indexes ${knownCluster.base}*, but the settings select ${base}*: ${remedy}`
  throw new StartRefusal([{ path: 'search.index_prefix', message }])
}

async function requireSameCluster(
  { role, file }: DocumentStoreOptions,
  { readClusterUuid }: ClusterStorage,
): Promise<void> {
  const knownCluster = documentsCluster(file).place()
  if (!knownCluster) return
  const answering = await readClusterUuid()
  if (answering === undefined || answering === knownCluster.cluster) return
  const remedy =
    'set search.host to that cluster; if this cluster was restored from its snapshot, run `platform store adopt`'
  const message = `the documents of ${role.name} are in the cluster ${knownCluster.cluster}, and this leads to ${answering}: ${remedy}`
  throw new StartRefusal([{ path: 'search.host', message }])
}

async function requireOwnAliases({ role }: DocumentStoreOptions, { findForeignAlias }: ClusterStorage): Promise<void> {
  const foreign = await findForeignAlias()
  if (foreign === undefined) return
  const message = `a documented index name of ${role.name} belongs to another site: ${foreign}; choose a prefix that no other site of the cluster has`
  throw new StartRefusal([{ path: 'search.alias_prefix', message }])
}
