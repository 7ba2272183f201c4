// The databases of one role: its document store, its audit chain, and for the site role the carriers' journal.
import { mkdirSync } from 'node:fs'
import { type SqliteAudit, sqliteAudit } from '../../adapters/store/sqlite/audit.ts'
import { type SqliteFile, sqliteFile } from '../../adapters/store/sqlite/file.ts'
import { takeLock } from '../../adapters/store/sqlite/lock.ts'
import { sqliteStore } from '../../adapters/store/sqlite/store.ts'
import { Refused } from '../kernel/errors.ts'
import type { Role } from '../kernel/role.ts'
import type { Store } from '../kernel/store.ts'
import { databaseOf, lockOf, runOf, type SiteFolder } from './site-folder.ts'

export type Stock = {
  readonly role: string
  readonly file: SqliteFile
  readonly store: Store
  readonly audit: SqliteAudit
  /** Closes the file and gives the role free for another process. */
  close(): Promise<void>
}

/** The role's folder for what lives as long as its process, made (0700) where there is none; also for `sqliteAddon`. */
export function runFolder(folder: SiteFolder, role: string): string {
  const dir = runOf(folder, role)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  return dir
}

/** Fences the role: undefined while another process has it. */
export function takeRole(folder: SiteFolder, role: string): { release(): void } | undefined {
  return takeLock(lockOf(folder, role), runFolder(folder, role))
}

/** One process for each role of a site: throws `Refused('conflict')` while another process runs it. */
export function openStock(folder: SiteFolder, role: Role, site: string): Stock {
  const lock = takeRole(folder, role.name)
  if (!lock) throw new Refused('conflict', `the role ${role.name} of this site runs already in another process`)
  let file: SqliteFile | undefined
  try {
    const opened = sqliteFile({ file: databaseOf(folder, role.name), addonDir: runOf(folder, role.name) })
    file = opened
    const audit = sqliteAudit(opened, writerOf(role.name, site))
    const store = sqliteStore(opened, { audit, collections: role.collections })
    return {
      role: role.name,
      file: opened,
      store,
      audit,
      async close() {
        await store.close()
        lock.release()
      },
    }
  } catch (error) {
    void file?.close()
    lock.release()
    throw error
  }
}

/** Names an audit chain: the role and the site, which both outlive the machine. */
export function writerOf(role: string, site: string): string {
  return `${role}@${site}`
}
