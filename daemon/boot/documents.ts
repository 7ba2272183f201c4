// Where a role keeps its documents: in its own SQLite file, or in the cluster that the settings name, and never in both.
import type { SqliteAudit } from '../../adapters/store/sqlite/audit.ts'
import { auditShipped } from '../../adapters/store/sqlite/audit-shipped.ts'
import { type DocumentsHome, documentsHome, moveDocumentsHome } from '../../adapters/store/sqlite/documents-home.ts'
import type { SqliteFile } from '../../adapters/store/sqlite/file.ts'
import { sqliteOwedAudit } from '../../adapters/store/sqlite/owed-audit.ts'
import { sqliteStore } from '../../adapters/store/sqlite/store.ts'
import { searchSettings } from '../kernel/engine-settings.ts'
import { Refused, refuse } from '../kernel/errors.ts'
import type { Role } from '../kernel/role.ts'
import type { Resolved } from '../kernel/settings.ts'
import { valuesOf } from './profile.ts'
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

/** Throws `Refused('conflict')` when the documents are elsewhere: to begin anew here would be a second truth. */
export async function documentsOf(given: RoleFiles): Promise<Pick<Stock, 'store' | 'tended' | 'expireCopies'>> {
  const { file, role, audit, resolved } = given
  const home = wantedHome(resolved)
  const found = documentsHome(file)
  if (found !== undefined && found !== home) {
    throw new Refused(
      'conflict',
      `the documents of ${role.name} are in ${found}, and search.host asks for ${home}: run \`platform store migrate\``,
    )
  }
  if (home === 'sqlite') return { store: sqliteStore(file, { audit, collections: role.collections }) }
  if (found === undefined) await moveDocumentsHome(file, home)
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
  }
}

/** The client of the cluster is loaded by sites that have one. Throws `Refused('conflict')` when the settings name none. */
export async function inCluster({ file, audit, role, site, resolved }: RoleFiles) {
  const { openInCluster } = await import('../../adapters/store/opensearch/open-store.ts')
  const { host, timeout, index_prefix, pki_ca, pki_cert, pki_key, ...given } = valuesOf(resolved, searchSettings)
  if (host === undefined) throw refuse('conflict', 'the documents are in a cluster, and search.host names none')
  return openInCluster({
    ...given,
    url: host,
    ca_file: pki_ca,
    cert_file: pki_cert,
    key_file: pki_key,
    timeout_ms: timeout * 1_000,
    base: `${index_prefix}.${site}`,
    role: role.name,
    collections: role.collections,
    owed: sqliteOwedAudit(file, audit),
    audit,
    shippedTo: auditShipped(file),
  })
}
