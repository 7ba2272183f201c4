// The role's part of a scheduled backup: a copy of its own database, which no other user can read while it is made.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as rest } from 'node:timers/promises'
import { isRefusal, refuse } from '../../kernel/error/errors.ts'
import type { BackupAnswer, ServiceParts } from '../../kernel/role/built-in-operations.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { RoleStorage } from '../storage/role-storage.ts'
import { roleDataFolder, type SiteFolder } from '../storage/site-folder.ts'
import { backupSetsFolder, copyToNewFile, databaseFileName, draftFolder } from './backup-set.ts'

/** Longest wait of one response for the copy, well below the time limit of a request. */
const timeout_ms = 10_000
const privateCopyPattern = /^\.copy-.*\.db/

/** Starts the copy at the first request for a set, and reports its state to the next ones; copies run one at a time. */
export function roleBackup(
  storage: RoleStorage,
  folder: SiteFolder,
  resolved: ResolvedSettings,
): ServiceParts['backup'] {
  let current: { readonly set: string; readonly copy: Promise<BackupAnswer> } | undefined
  return async (set) => {
    if (current?.set !== set) {
      const startCopy = () => copyIntoDraft(draftFolder(backupSetsFolder(folder, resolved), set), storage, folder)
      const copy = current ? current.copy.then(startCopy, startCopy) : startCopy()
      current = { set, copy }
      // After a failure, the same set may be requested again.
      copy.catch(() => {
        if (current?.copy === copy) current = undefined
      })
    }
    const timeLimit = new AbortController()
    const timedOut = rest(timeout_ms, { state: 'copying' } as const, { signal: timeLimit.signal, ref: false })
    try {
      return await Promise.race([current.copy, timedOut])
    } catch (error) {
      if (isRefusal(error)) return error
      throw error
    } finally {
      timeLimit.abort()
      timedOut.catch(() => undefined)
    }
  }
}

/**
 * Copies into the draft of the set. SQLite writes to a private folder first, since it trusts any journal beside a
 * database; the draft then receives a complete plain file.
 */
async function copyIntoDraft(draft: string, storage: RoleStorage, folder: SiteFolder): Promise<BackupAnswer> {
  requireDraft(draft)
  const dataFolder = roleDataFolder(folder, storage.role)
  // Removes the remains of a copy that a crash interrupted.
  for (const name of fs.readdirSync(dataFolder).filter((file) => privateCopyPattern.test(file)))
    fs.rmSync(join(dataFolder, name))
  const copy = join(dataFolder, `.copy-${process.pid}.db`)
  try {
    await storage.file.backup(copy)
    const source = fs.openSync(copy, 'r')
    try {
      return { state: 'done', ...(await copyToNewFile(source, join(draft, databaseFileName(storage.role)))) }
    } finally {
      fs.closeSync(source)
    }
  } catch (error) {
    // Role `site` removes the draft of a backup that was cancelled or that it has begun anew.
    requireDraft(draft)
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw refuse('already_exists', 'the backup already has a copy of this role')
  } finally {
    fs.rmSync(copy, { force: true })
  }
}

function requireDraft(draft: string): void {
  if (fs.lstatSync(draft, { throwIfNoEntry: false })?.isDirectory()) return
  throw refuse('not_found', 'this backup is not in progress')
}
