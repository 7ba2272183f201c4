// Opens the databases of a site's roles for commands, whether or not a daemon runs.
import { lstatSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { userName } from '../../../adapters/host/users/system-users.ts'
import { type SqliteAudit, sqliteAudit } from '../../../adapters/store/sqlite/audit/audit.ts'
import { readDocumentsHome } from '../../../adapters/store/sqlite/documents/documents-home.ts'
import { type SqliteFile, sqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import { sqliteStore } from '../../../adapters/store/sqlite/store.ts'
import { findForeignOwner, runAsOwnerOf } from '../../boot/host/act-as-owner.ts'
import { loadRole } from '../../boot/loaded-roles.ts'
import { openKnownCluster } from '../../boot/storage/documents.ts'
import { auditWriterName, ensureRunFolder } from '../../boot/storage/role-storage.ts'
import { roleDatabaseFile, roleDataFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { describeNewerStore } from '../../boot/storage/store-versions.ts'
import type { Role, RoleOutline } from '../../kernel/role/role.ts'
import type { Store } from '../../kernel/store/store.ts'
import { roles } from '../../roles.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'

export type RoleDatabase = {
  readonly role: Role
  readonly file: string
  readonly sqlite: SqliteFile
  readonly audit: SqliteAudit
  readonly store: Store
}

/**
 * Lists roles that have a database here, in the order of the list of roles, or one of them. Throws `OfflineCommandError`:
 * 3 if another user owns the data of one, since without it the result would be incomplete; 2 for an unknown role.
 */
export function listRolesWithDatabase(folder: SiteFolder, only?: string): RoleOutline[] {
  const selected = roles.filter(({ name }) => only === undefined || name === only)
  if (selected.length === 0)
    throw new OfflineCommandError(
      2,
      `the role ${only} does not exist`,
      `roles: ${roles.map(({ name }) => name).join(', ')}`,
    )
  return selected.filter((role) => {
    requireOwnership(roleDataFolder(folder, role.name), `the data of ${role.name}`)
    return hasDatabase(folder, role)
  })
}

function hasDatabase(folder: SiteFolder, role: RoleOutline): boolean {
  const exists = () => statSync(roleDatabaseFile(folder, role.name), { throwIfNoEntry: false }) !== undefined
  return runAsOwnerOf(roleDataFolder(folder, role.name), exists)
}

/** Throws `OfflineCommandError` (3) for data of another user, unless run by root. */
export function requireOwnership(path: string, subject: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  const uid = process.getuid?.()
  if (!stats || uid === 0 || stats.uid === uid) return
  throw new OfflineCommandError(3, `${subject} belongs to the user ${userName(stats.uid)}`, 'run this as root')
}

/** Bytes of the database and of its journal. */
export function measureDatabase(folder: SiteFolder, role: RoleOutline): number {
  const file = roleDatabaseFile(folder, role.name)
  const bytes = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return bytes(file) + bytes(`${file}-wal`)
}

/**
 * Opens, uses and closes the database; the file must exist. Works while a daemon has it open. Only tasks (`RoleTask`) call
 * it, since it refuses a process that can become root. A caller that may seal records names the site: an empty chain has
 * no writer yet, and its first record fixes one.
 */
export async function withDatabase<T>(
  folder: SiteFolder,
  role: RoleOutline,
  action: (database: RoleDatabase) => Promise<T>,
  site?: string,
): Promise<T> {
  const file = roleDatabaseFile(folder, role.name)
  return await withDatabaseFile(file, ensureRunFolder(folder, role.name), role, action, site)
}

/** Opens a copy that is elsewhere in the same way. */
export async function withDatabaseFile<T>(
  file: string,
  addonDir: string,
  outline: RoleOutline,
  action: (database: RoleDatabase) => Promise<T>,
  site = 'nobody',
): Promise<T> {
  const role = await loadRole(outline)
  const sqlite = openDatabaseFile(file, addonDir)
  try {
    const newer = describeNewerStore(sqlite, role)
    if (newer !== undefined) throw new OfflineCommandError(3, newer)
    const audit = sqliteAudit(sqlite, readAuditWriter(sqlite) ?? auditWriterName(role.name, site))
    const store = sqliteStore(sqlite, { audit, collections: role.collections })
    return await action({ role, file, sqlite, audit, store })
  } finally {
    await sqlite.close()
  }
}

/** Throws where the content of a database could gain the rights of root. */
export function openDatabaseFile(file: string, addonDir: string): SqliteFile {
  const owner = findForeignOwner(dirname(file))
  if (owner) throw new Error(`${file} belongs to user ${owner.uid}: a process that can become root does not open it`)
  return sqliteFile({ file, addonDir })
}

/** Opens the documents of a role: in its own database, or in the cluster that the settings name. */
export async function withDocuments<T>(
  folder: SiteFolder,
  env: EnvironmentVariables,
  { role, sqlite, audit, store }: RoleDatabase,
  action: (store: Store) => Promise<T>,
): Promise<T> {
  if (readDocumentsHome(sqlite) !== 'opensearch') return await action(store)
  const { resolved, platform } = readSiteSettings(folder, env)
  const clusterStore = (await openKnownCluster({ role, site: platform.name, resolved, file: sqlite, audit })).store
  try {
    return await action(clusterStore)
  } finally {
    await clusterStore.close()
  }
}

/** The writer of the chain in this file; undefined before its first record. */
function readAuditWriter({ db }: SqliteFile): string | undefined {
  const hasChain = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'audit_head'").get()
  if (!hasChain) return undefined
  return db.prepare<[], string>('SELECT writer FROM audit_head').pluck().get()
}
