// A role's share of a scheduled backup: a copy of its own database, which nobody but its user ever reads on the way.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as rest } from 'node:timers/promises'
import { isRefusal, refuse } from '../../kernel/error/errors.ts'
import type { BackupAnswer, ServiceParts } from '../../kernel/role/built-in-operations.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { RoleStorage } from '../storage/role-storage.ts'
import { roleDataFolder, type SiteFolder } from '../storage/site-folder.ts'
import { backupSetsFolder, copyToNewFile, databaseFileName, draftFolder } from './backup-set.ts'

/** How long an answer waits for the copy: well below what a request may take. */
const timeout_ms = 10_000
const privateCopyPattern = /^\.copy-.*\.db/

/** Starts the copy with the first request for the set; later requests return its state. One set at a time. */
export function roleBackup(stock: RoleStorage, folder: SiteFolder, resolved: ResolvedSettings): ServiceParts['backup'] {
  let current: { readonly set: string; readonly copy: Promise<BackupAnswer> } | undefined
  return async (set) => {
    if (current?.set !== set) {
      const begin = () => copyIntoDraft(draftFolder(backupSetsFolder(folder, resolved), set), stock, folder)
      const copy = current ? current.copy.then(begin, begin) : begin()
      current = { set, copy }
      // A failed copy may be requested again.
      copy.catch(() => {
        if (current?.copy === copy) current = undefined
      })
    }
    const late = new AbortController()
    const waiting = rest(timeout_ms, { state: 'copying' } as const, { signal: late.signal, ref: false })
    try {
      return await Promise.race([current.copy, waiting])
    } catch (error) {
      if (isRefusal(error)) return error
      throw error
    } finally {
      late.abort()
      waiting.catch(() => undefined)
    }
  }
}

/**
 * SQLite makes the copy where nobody else may write, since it believes a journal that it finds beside a database;
 * what lies in the draft is a plain file, whole when it is there.
 */
async function copyIntoDraft(draft: string, stock: RoleStorage, folder: SiteFolder): Promise<BackupAnswer> {
  if (!fs.lstatSync(draft, { throwIfNoEntry: false })?.isDirectory())
    throw refuse('not_found', 'no such backup is being made')
  const own = roleDataFolder(folder, stock.role)
  // Leftovers of a crash.
  for (const name of fs.readdirSync(own).filter((each) => privateCopyPattern.test(each))) fs.rmSync(join(own, name))
  const copy = join(own, `.copy-${process.pid}.db`)
  try {
    await stock.file.backup(copy)
    const source = fs.openSync(copy, 'r')
    try {
      return { state: 'done', ...(await copyToNewFile(source, join(draft, databaseFileName(stock.role)))) }
    } finally {
      fs.closeSync(source)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw refuse('already_exists', 'the backup has a copy of this role already')
  } finally {
    fs.rmSync(copy, { force: true })
  }
}
