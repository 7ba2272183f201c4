// Where a role keeps its documents: in its own SQLite file, or in the cluster that the settings name, and never in both.
import type { InCluster } from '../../adapters/store/opensearch/open-store.ts'
import type { SqliteAudit } from '../../adapters/store/sqlite/audit.ts'
import { auditShipped } from '../../adapters/store/sqlite/audit-shipped.ts'
import { documentsCluster } from '../../adapters/store/sqlite/documents-cluster.ts'
import { type DocumentsHome, documentsHome, moveDocumentsHome } from '../../adapters/store/sqlite/documents-home.ts'
import type { SqliteFile } from '../../adapters/store/sqlite/file.ts'
import { sqliteOwedAudit } from '../../adapters/store/sqlite/owed-audit.ts'
import { sqliteStore } from '../../adapters/store/sqlite/store.ts'
import { searchSettings } from '../kernel/engine-settings.ts'
import type { Role, RoleOutline } from '../kernel/role.ts'
import type { Resolved } from '../kernel/settings.ts'
import { StartRefused, valuesOf } from './profile.ts'
import type { Stock } from './stock.ts'
import { tended } from './tended.ts'

const copies = 'copies of the audit chain'

export type RoleFiles = {
  readonly role: Role
  readonly site: string
  readonly resolved: Resolved
  readonly file: SqliteFile
  readonly audit: SqliteAudit
}

export function wantedHome(resolved: Resolved): DocumentsHome {
  return valuesOf(resolved, searchSettings).host === undefined ? 'sqlite' : 'opensearch'
}

/** Throws `StartRefused` when the documents are elsewhere: to begin anew here would be a second truth. */
export async function documentsOf(
  given: RoleFiles,
): Promise<Pick<Stock, 'store' | 'tended' | 'expireCopies' | 'lostIndexes'>> {
  const { file, role, audit, resolved } = given
  const home = wantedHome(resolved)
  const found = documentsHome(file)
  if (found !== undefined && found !== home) {
    const message = `the documents of ${role.name} are in ${found}, and this asks for ${home}: run \`platform store migrate\``
    throw new StartRefused([{ path: 'search.host', message }])
  }
  if (home === 'sqlite') return { store: sqliteStore(file, { audit, collections: role.collections }) }
  if (found === undefined) {
    await beginInCluster(file)
    await moveDocumentsHome(file, home)
  }
  const { store, shipping } = await inCluster(given)
  return {
    store,
    tended: [
      tended('settle', 'writes in doubt', () => store.settle()),
      tended('ship-audit', copies, async (signal) => {
        const { differs } = await shipping.ship(signal)
        return new Map(differs === undefined ? [] : [[copies, `record ${differs} differs from its copy`]])
      }),
    ],
    expireCopies: async (before) => shipping.expire(before, (await audit.head()).writer),
    lostIndexes: () => store.lost(),
  }
}

/** What an earlier cluster held counts no more: the next one that is reached is the one, and gets the whole audit chain. */
export async function beginInCluster(file: SqliteFile): Promise<void> {
  await auditShipped(file).set(0)
  await documentsCluster(file).forget()
}

/** On purpose: another cluster holds what the former held, but for the indexes that are given up. */
export async function adoptCluster(file: SqliteFile, cluster: string, given_up: readonly string[]): Promise<void> {
  // A snapshot is older than the chain.
  await auditShipped(file).set(0)
  await documentsCluster(file).adopt(cluster, given_up)
}

/**
 * The client of the cluster is loaded by sites that have one. Throws `StartRefused` when the settings name none, or another
 * cluster or prefix than the documents are in; a cluster that does not answer is looked at when it does.
 */
export async function inCluster(given: RoleFiles): Promise<InCluster> {
  requireBase(given)
  const opened = await openCluster(given)
  try {
    await requireCluster(given, opened)
    return opened
  } catch (error) {
    await opened.store.close()
    throw error
  }
}

/** The same, whichever cluster it is. */
export async function openCluster({ file, audit, role, site, resolved }: RoleFiles): Promise<InCluster> {
  const { openInCluster } = await import('../../adapters/store/opensearch/open-store.ts')
  const { host, timeout, index_prefix, pki_ca, pki_cert, pki_key, ...given } = valuesOf(resolved, searchSettings)
  if (host === undefined)
    throw new StartRefused([{ path: 'search.host', message: 'the documents are in a cluster, and this names none' }])
  return openInCluster({
    ...given,
    url: host,
    ca_file: pki_ca,
    cert_file: pki_cert,
    key_file: pki_key,
    timeout_ms: timeout * 1_000,
    base: baseOf(index_prefix, site),
    prefix: indexPrefix(role, index_prefix, site),
    collections: role.collections,
    owed: sqliteOwedAudit(file, audit),
    audit,
    shippedTo: auditShipped(file),
    memory: documentsCluster(file),
  })
}

/** What all index names of a site begin with. */
function baseOf(index_prefix: string, site: string): string {
  return `${index_prefix}.${site}.`
}

/** What the index names of a role begin with; the name of a collection follows. */
export function indexPrefix({ name, index_family = name }: RoleOutline, index_prefix: string, site: string): string {
  return `${baseOf(index_prefix, site)}${index_family}.`
}

/** Throws `StartRefused` when the settings give indexes other names than they had. */
export function requireBase({ role, site, resolved, file }: RoleFiles): void {
  const place = documentsCluster(file).place()
  const base = baseOf(valuesOf(resolved, searchSettings).index_prefix, site)
  if (!place || place.base === base) return
  const remedy = 'set it back, or move the documents: `platform store migrate files` under the old, then `cluster`'
  const message = `the documents of ${role.name} are in indexes ${place.base}*, and this makes ${base}*: ${remedy}`
  throw new StartRefused([{ path: 'search.index_prefix', message }])
}

async function requireCluster({ role, file }: RoleFiles, { identity }: InCluster): Promise<void> {
  const place = documentsCluster(file).place()
  if (!place) return
  const found = await identity()
  if (found === undefined || found === place.cluster) return
  const remedy = 'name that one; if this one holds them now, restored from a snapshot, run `platform store adopt`'
  const message = `the documents of ${role.name} are in the cluster ${place.cluster}, and this leads to ${found}: ${remedy}`
  throw new StartRefused([{ path: 'search.host', message }])
}
