// Refuses documents that a later release wrote, before anything of a role is opened.
import { existsSync } from 'node:fs'
import { product } from '../../../adapters/platform/product/product.ts'
import { readSchemaVersions } from '../../../adapters/store/sqlite/schema/schema-versions.ts'
import { type SqliteFile, sqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import type { Role } from '../../kernel/role/role.ts'
import { type ProfileProblem, StartRefusal } from '../../kernel/settings/profile-error.ts'
import { describeNewerCollections, findNewerCollections } from '../../kernel/store/schema-version.ts'
import { ensureRunFolder } from './role-storage.ts'
import { roleDatabaseFile, type SiteFolder } from './site-folder.ts'

type VersionedRole = Pick<Role, 'name' | 'collections'>

/** Why this release cannot use the database; undefined if it can. */
export function describeNewerStore(file: SqliteFile, { name, collections }: VersionedRole): string | undefined {
  const newer = findNewerCollections(readSchemaVersions(file), collections, product.version)
  return newer.length > 0 ? describeNewerCollections(newer, name, product.version) : undefined
}

/** Throws `StartRefusal`. */
export function requireKnownVersions(file: SqliteFile, role: VersionedRole): void {
  const message = describeNewerStore(file, role)
  if (message !== undefined) throw new StartRefusal([{ path: file.db.name, message }])
}

/** For a start: no role runs beside a role whose documents are of a later release. */
export async function findNewerStores(folder: SiteFolder, roles: readonly VersionedRole[]): Promise<ProfileProblem[]> {
  const problems: ProfileProblem[] = []
  for (const role of roles) {
    const path = roleDatabaseFile(folder, role.name)
    if (!existsSync(path)) continue
    const message = await examineDatabase(path, ensureRunFolder(folder, role.name), role)
    if (message !== undefined) problems.push({ path, message })
  }
  return problems
}

/** A database that cannot be read is left to the start of its role, which fails alone. */
async function examineDatabase(path: string, addonDir: string, role: VersionedRole): Promise<string | undefined> {
  let file: SqliteFile | undefined
  try {
    file = sqliteFile({ file: path, addonDir })
    return describeNewerStore(file, role)
  } catch {
    return undefined
  } finally {
    await file?.close()
  }
}
