// The databases of one role: its document store, its audit chain, and for the site role the carriers' journal.
import { mkdirSync } from 'node:fs'
import { type SqliteAudit, sqliteAudit } from '../../../adapters/store/sqlite/audit.ts'
import { takeLock } from '../../../adapters/store/sqlite/lock.ts'
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
  /** Where documents are in a cluster: ends what was left in doubt, and copies the audit chain there. */
  readonly retriedTasks?: readonly RetriedTask[]
  /** There: drops the bodies of copies of events before the instant, in epoch milliseconds. */
  readonly expireAuditCopies?: (before: number) => Promise<void>
  /** There: names of the indexes that were made and are gone. Throws `Refusal('unavailable')`. */
  readonly lostIndexes?: () => Promise<readonly string[]>
  /** Closes the file and gives the role free for another process. */
  close(): Promise<void>
}

/** The folder of the role for files that live as long as its process, created with mode 0700 where it is absent. */
export function ensureRunFolder(folder: SiteFolder, role: string): string {
  const dir = roleRunFolder(folder, role)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  return dir
}

/** Fences the role: undefined while another process has it. */
export function lockRole(folder: SiteFolder, role: string): { release(): void } | undefined {
  return takeLock(roleLockFile(folder, role), ensureRunFolder(folder, role))
}

/**
 * One process for each role of a site: throws `Refusal('conflict')` while another process runs it. A cluster need not
 * be there yet. Throws when the documents are where the settings do not say.
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
    const kept = await openDocuments({ role, site, resolved, file, audit })
    const opened = file
    return {
      role: role.name,
      file,
      audit,
      ...kept,
      async close() {
        await kept.store.close()
        await opened.close()
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
