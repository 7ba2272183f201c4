// The databases of one role: its document store, its audit chain, and for the site role the carriers' journal.
import { mkdirSync } from 'node:fs'
import { type SqliteAudit, sqliteAudit } from '../../../adapters/store/sqlite/audit/audit.ts'
import { takeLock } from '../../../adapters/store/sqlite/lock.ts'
import type { CollectionUpgrade } from '../../../adapters/store/sqlite/schema/schema-versions.ts'
import { type SqliteFile, sqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import { Refusal } from '../../kernel/error/errors.ts'
import type { Role } from '../../kernel/role/role.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { Store } from '../../kernel/store/store.ts'
import { openDocuments } from './documents.ts'
import type { RetriedTask } from './retried-task.ts'
import { roleDatabaseFile, roleLockFile, roleRunFolder, type SiteFolder } from './site-folder.ts'

export type RoleStorage = {
  readonly role: string
  readonly file: SqliteFile
  readonly store: Store
  readonly audit: SqliteAudit
  /** Documents of earlier releases that were migrated when the storage was opened. */
  readonly upgrades: readonly CollectionUpgrade[]
  /** Only with a cluster: tasks that resolve writes in doubt, and copy the audit chain. */
  readonly retriedTasks?: readonly RetriedTask[]
  /** Only with a cluster: removes bodies of copied events before an instant (epoch milliseconds). */
  readonly expireAuditCopies?: (before: number) => Promise<void>
  /** Only with a cluster: names of created indexes that are missing. Throws `Refusal('unavailable')`. */
  readonly lostIndexes?: () => Promise<readonly string[]>
  /** Closes the file and releases the role for another process. */
  close(): Promise<void>
}

/** The run folder of a role, created (0700) if missing. */
export function ensureRunFolder(folder: SiteFolder, role: string): string {
  const dir = roleRunFolder(folder, role)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  return dir
}

/** Locks the role; undefined while another process holds it. */
export function lockRole(folder: SiteFolder, role: string): { release(): void } | undefined {
  return takeLock(roleLockFile(folder, role), ensureRunFolder(folder, role))
}

/**
 * Opens the storage of a role. Throws `Refusal('conflict')` while another process runs the role, and `StartRefusal` if the
 * documents are not where the settings say. A cluster need not be reachable yet.
 */
export async function openRoleStorage(
  folder: SiteFolder,
  role: Role,
  site: string,
  resolved: ResolvedSettings,
): Promise<RoleStorage> {
  const lock = lockRole(folder, role.name)
  if (!lock) throw new Refusal('conflict', `the role ${role.name} of this site runs already in another process`)
  let file: SqliteFile | undefined
  try {
    file = sqliteFile({ file: roleDatabaseFile(folder, role.name), addonDir: roleRunFolder(folder, role.name) })
    const audit = sqliteAudit(file, auditWriterName(role.name, site))
    const documents = await openDocuments({ role, site, resolved, file, audit })
    const openFile = file
    return {
      role: role.name,
      file,
      audit,
      ...documents,
      async close() {
        await documents.store.close()
        await openFile.close()
        lock.release()
      },
    }
  } catch (error) {
    await file?.close()
    lock.release()
    throw error
  }
}

/** Names an audit chain: the role and the site, which both outlive the machine. */
export function auditWriterName(role: string, site: string): string {
  return `${role}@${site}`
}
