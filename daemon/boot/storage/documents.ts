// Where a role keeps its documents: in its own SQLite file, or in the cluster that the settings name, and never in both.
import type { ClusterStorage } from '../../../adapters/store/opensearch/open-cluster-storage.ts'
import type { SqliteAudit } from '../../../adapters/store/sqlite/audit.ts'
import { auditShippingPosition } from '../../../adapters/store/sqlite/audit-shipping-position.ts'
import { documentsCluster } from '../../../adapters/store/sqlite/documents-cluster.ts'
import {
  type DocumentsHome,
  readDocumentsHome,
  recordDocumentsHome,
} from '../../../adapters/store/sqlite/documents-home.ts'
import { sqlitePendingAudit } from '../../../adapters/store/sqlite/pending-audit.ts'
import type { SqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import { sqliteStore } from '../../../adapters/store/sqlite/store.ts'
import type { Role, RoleOutline } from '../../kernel/role/role.ts'
import { searchSettings } from '../../kernel/settings/backing-service-settings.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { StartRefusal } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { retriedTask } from './retried-task.ts'
import type { RoleStorage } from './role-storage.ts'

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

/** Throws `StartRefusal` when the documents are elsewhere: to begin anew here would be a second truth. */
export async function openDocuments(
  given: DocumentStoreOptions,
): Promise<Pick<RoleStorage, 'store' | 'retriedTasks' | 'expireAuditCopies' | 'lostIndexes'>> {
  const { file, role, audit, resolved } = given
  const home = chooseDocumentsHome(resolved)
  const found = readDocumentsHome(file)
  if (found !== undefined && found !== home) {
    const message = `the documents of ${role.name} are in ${found}, and this asks for ${home}: run \`platform store migrate\``
    throw new StartRefusal([{ path: 'search.host', message }])
  }
  if (home === 'sqlite') return { store: sqliteStore(file, { audit, collections: role.collections }) }
  if (found === undefined) {
    await resetClusterState(file)
    await recordDocumentsHome(file, home)
  }
  const { store, shipping } = await openKnownCluster(given)
  return {
    store,
    retriedTasks: [
      retriedTask('settle', 'writes in doubt', () => store.resolveWrites()),
      retriedTask('ship-audit', audit_copies, async (signal) => {
        const { differs } = await shipping.ship(signal)
        return new Map(differs === undefined ? [] : [[audit_copies, `record ${differs} differs from its copy`]])
      }),
    ],
    expireAuditCopies: async (before) => shipping.expire(before, (await audit.head()).writer),
    lostIndexes: () => store.findLostIndexes(),
  }
}

/** Forgets an earlier cluster: the next one that answers is adopted, and gets the whole audit chain. */
export async function resetClusterState(file: SqliteFile): Promise<void> {
  await auditShippingPosition(file).set(0)
  await documentsCluster(file).forget()
}

/** On purpose: another cluster holds what the former held, but for the indexes that are given up. */
export async function adoptCluster(file: SqliteFile, cluster: string, given_up: readonly string[]): Promise<void> {
  // A snapshot is older than the chain.
  await auditShippingPosition(file).set(0)
  await documentsCluster(file).adopt(cluster, given_up)
}

/**
 * The client of the cluster is loaded by sites that have one. Throws `StartRefusal` when the settings name none, or another
 * cluster or prefix than the documents are in; a cluster that does not answer is looked at when it does.
 */
export async function openKnownCluster(given: DocumentStoreOptions): Promise<ClusterStorage> {
  requireIndexBase(given)
  const opened = await openCluster(given)
  try {
    await requireSameCluster(given, opened)
    return opened
  } catch (error) {
    await opened.store.close()
    throw error
  }
}

/** The same, whichever cluster it is. */
export async function openCluster({
  file,
  audit,
  role,
  site,
  resolved,
}: DocumentStoreOptions): Promise<ClusterStorage> {
  const { openClusterStorage } = await import('../../../adapters/store/opensearch/open-cluster-storage.ts')
  const { host, timeout, index_prefix, pki_ca, pki_cert, pki_key, ...given } = getSettings(resolved, searchSettings)
  if (host === undefined)
    throw new StartRefusal([{ path: 'search.host', message: 'the documents are in a cluster, and this names none' }])
  return openClusterStorage({
    ...given,
    url: host,
    ca_file: pki_ca,
    cert_file: pki_cert,
    key_file: pki_key,
    timeout_ms: timeout * 1_000,
    base: indexBase(index_prefix, site),
    prefix: indexPrefix(role, index_prefix, site),
    collections: role.collections,
    pendingAudit: sqlitePendingAudit(file, audit),
    audit,
    shippingPosition: auditShippingPosition(file),
    memory: documentsCluster(file),
  })
}

/** Prefix of all index names of a site. */
function indexBase(index_prefix: string, site: string): string {
  return `${index_prefix}.${site}.`
}

/** Prefix of the index names of a role; the name of a collection follows. */
export function indexPrefix({ name, index_family = name }: RoleOutline, index_prefix: string, site: string): string {
  return `${indexBase(index_prefix, site)}${index_family}.`
}

/** Throws `StartRefusal` when the settings give indexes other names than they had. */
export function requireIndexBase({ role, site, resolved, file }: DocumentStoreOptions): void {
  const place = documentsCluster(file).place()
  const base = indexBase(getSettings(resolved, searchSettings).index_prefix, site)
  if (!place || place.base === base) return
  const remedy = 'set it back, or move the documents: `platform store migrate files` under the old, then `cluster`'
  const message = `the documents of ${role.name} are in indexes ${place.base}*, and this makes ${base}*: ${remedy}`
  throw new StartRefusal([{ path: 'search.index_prefix', message }])
}

async function requireSameCluster(
  { role, file }: DocumentStoreOptions,
  { readClusterUuid }: ClusterStorage,
): Promise<void> {
  const place = documentsCluster(file).place()
  if (!place) return
  const found = await readClusterUuid()
  if (found === undefined || found === place.cluster) return
  const remedy = 'name that one; if this one holds them now, restored from a snapshot, run `platform store adopt`'
  const message = `the documents of ${role.name} are in the cluster ${place.cluster}, and this leads to ${found}: ${remedy}`
  throw new StartRefusal([{ path: 'search.host', message }])
}
