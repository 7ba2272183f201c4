// Takes files of a folder in which records arrive, and puts them away: each step is one rename, so that none is half done after a crash.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { openPlainFile, TenantDataFileError } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import { syncFolder } from '../../../../adapters/platform/durable-file/sync-folder.ts'
import { writeDurablyAsync } from '../../../../adapters/platform/durable-file/write-durably.ts'
import { faultStop } from '../../../boot/host/fault-stop.ts'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { fileOfClaim, type WatchedFolder } from '../../../roles/resolution/arrival-folder/watched-folder.ts'
import { openClaimedFile, toRefusal } from './claimed-file.ts'
import {
  ArrivalFolderError,
  describeFolderError,
  type FolderDescriptors,
  folder_mode,
  openFolderDescriptors,
} from './folder-descriptors.ts'
import { describeRights, scanFolder, type UnmovableFile } from './scan-folder.ts'
import type { RowReader } from './threaded-rows.ts'

/**
 * Each file gets a folder of its own in work, which is renamed to done or failed with all that it holds. Throws
 * `Refusal('unavailable')` while the folder cannot be used.
 */
export function openWatchedFolder(path: string, readRows: RowReader): WatchedFolder {
  const unmovable = new Map<string, UnmovableFile>()
  const withFolder = async <T>(work: (folder: FolderDescriptors) => T | Promise<T>): Promise<T> => {
    const folder = openFolder(path)
    try {
      return await work(folder)
    } catch (error) {
      if (error instanceof TenantDataFileError) throw refuse('unavailable', error.message)
      throw isSystemError(error) ? refuse('unavailable', `${path} ${describeFolderError(error)}`) : error
    } finally {
      folder.close()
    }
  }
  return {
    scan: () =>
      withFolder(async (folder) => {
        const scan = await scanFolder(folder, unmovable)
        return { ...scan, claims: scan.claims.filter((claim) => !removeEmptyClaim(folder, claim)) }
      }),
    claim: (file) => withFolder((folder) => claimFile(folder, file, unmovable)),
    async open(claim, signal) {
      const folder = openFolder(path)
      try {
        const file = fileOfClaim(claim)
        const opened = openPlainFile(folder.path('work', claim, file))
        return await openClaimedFile(folder, { claim, file, opened }, readRows, signal).catch((error: unknown) => {
          opened.close()
          throw error
        })
      } catch (error) {
        folder.close()
        const refusal = toRefusal(error)
        if (isRefusal(refusal) && !refusal.row.retryable) return refusal
        throw refusal
      }
    },
    putAway: (claim, failure) =>
      withFolder(async (folder) => {
        if (failure) await writeReport(folder, claim, failure)
        faultStop?.('arrival-file-ended')
        const end = failure ? 'failed' : 'done'
        renameSync(folder.path('work', claim), folder.path(end, claim))
        syncFolder(folder.path(end))
        syncFolder(folder.path('work'))
        faultStop?.('arrival-file-put-away')
      }),
  }
}

function openFolder(path: string): FolderDescriptors {
  try {
    return openFolderDescriptors(path)
  } catch (error) {
    throw error instanceof ArrivalFolderError ? refuse('unavailable', `${path}${error.message}`) : error
  }
}

function isSystemError(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).errno === 'number'
}

/** A crash between the making of a claim and the rename of its file leaves an empty folder. */
function removeEmptyClaim(folder: FolderDescriptors, claim: string): boolean {
  try {
    rmdirSync(folder.path('work', claim))
    return true
  } catch {
    return false
  }
}

function claimFile(folder: FolderDescriptors, file: string, unmovable: Map<string, UnmovableFile>): string | undefined {
  const claim = `${file}.${randomBytes(8).toString('hex')}`
  mkdirSync(folder.path('work', claim), { mode: folder_mode })
  try {
    renameSync(folder.path('incoming', file), folder.path('work', claim, file))
  } catch (error) {
    rmdirSync(folder.path('work', claim))
    const { code = '' } = error as NodeJS.ErrnoException
    // Of a folder in which each user may move only his own files.
    if (code === 'EPERM' || code === 'EACCES')
      unmovable.set(file, { reason: 'the service may not move this file', rights: describeRights(folder, file) })
    else if (code !== 'ENOENT') throw error
    return undefined
  }
  syncFolder(folder.path('work', claim))
  syncFolder(folder.path('work'))
  syncFolder(folder.path('incoming'))
  faultStop?.('arrival-file-claimed')
  return claim
}

async function writeReport(folder: FolderDescriptors, claim: string, failure: object): Promise<void> {
  const report = folder.path('work', claim, `${fileOfClaim(claim)}.reason.json`)
  if (existsSync(report)) return
  await writeDurablyAsync(report, `${JSON.stringify(failure, null, 2)}\n`, { mode: 0o640 })
}
