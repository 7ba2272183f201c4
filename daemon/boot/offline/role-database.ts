// The databases of a site's roles, opened for commands beside or instead of a running daemon.
import { existsSync, statSync } from 'node:fs'
import { type SqliteAudit, sqliteAudit } from '../../../adapters/store/sqlite/audit.ts'
import { type SqliteFile, sqliteFile } from '../../../adapters/store/sqlite/file.ts'
import { sqliteStore } from '../../../adapters/store/sqlite/store.ts'
import type { Role } from '../../kernel/role.ts'
import type { Store } from '../../kernel/store.ts'
import { roles } from '../../roles.ts'
import { databaseOf, type SiteFolder } from '../site-folder.ts'
import { addonFolder } from '../stock.ts'

export type RoleDatabase = {
  readonly role: Role
  readonly file: string
  readonly sqlite: SqliteFile
  readonly audit: SqliteAudit
  readonly store: Store
}

/** Roles that have a database here, in the order of the list of roles. */
export function rolesWithDatabase(folder: SiteFolder): Role[] {
  return roles.filter((role) => existsSync(databaseOf(folder, role.name)))
}

/** Bytes of the database and of its journal. */
export function sizeOf(folder: SiteFolder, role: Role): number {
  const file = databaseOf(folder, role.name)
  return [file, `${file}-wal`].reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
}

/** Opens, uses and closes; the file must exist. Works while a daemon has it open. */
export async function withDatabase<T>(
  folder: SiteFolder,
  role: Role,
  use: (database: RoleDatabase) => Promise<T>,
): Promise<T> {
  return await withFile(databaseOf(folder, role.name), addonFolder(folder), role, use)
}

/** The same for a copy that lies elsewhere. */
export async function withFile<T>(
  file: string,
  addonDir: string,
  role: Role,
  use: (database: RoleDatabase) => Promise<T>,
): Promise<T> {
  const sqlite = sqliteFile({ file, addonDir })
  try {
    const audit = sqliteAudit(sqlite, writerOf(sqlite) ?? `${role.name}@nobody`)
    const store = sqliteStore(sqlite, { audit, collections: role.collections })
    return await use({ role, file, sqlite, audit, store })
  } finally {
    await sqlite.close()
  }
}

/** Who writes the chain in this file; undefined before its first record. */
function writerOf({ db }: SqliteFile): string | undefined {
  const known = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'audit_head'").get()
  if (!known) return undefined
  return db.prepare<[], string>('SELECT writer FROM audit_head').pluck().get()
}
