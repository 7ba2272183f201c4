// Scheduled backups: the site role starts a set, each role adds its own database, and a complete set gets its name.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from '../../../adapters/platform/durable-file/sync-folder.ts'
import type { Signatures } from '../../kernel/cryptography/signatures.ts'
import { isRefusal, refuse } from '../../kernel/error/errors.ts'
import { type RoleClients, throwRefusal } from '../../kernel/operation/operation-contract.ts'
import { backupContract, backupName } from '../../kernel/role/built-in-operations.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { Backups } from '../../roles/site/parts.ts'
import { roles } from '../../roles.ts'
import { resolveDivision } from '../host/site-division.ts'
import { roleDataFolder, type SiteFolder } from '../storage/site-folder.ts'
import {
  type BackupEntry,
  backupSetsFolder,
  databaseFileName,
  draftFolder,
  signBackupManifest,
  writeBackupManifest,
} from './backup-set.ts'

type ScheduledBackupOptions = {
  readonly folder: SiteFolder
  readonly resolved: ResolvedSettings
  readonly now: () => number
  readonly signatures: Pick<Signatures, 'sign'>
}

/** Creates sets in the format of `platform store backup`, so that `platform store restore` accepts them. */
export function scheduledBackups({ folder, resolved, now, signatures }: ScheduledBackupOptions): Backups {
  const dir = backupSetsFolder(folder, resolved)
  const group = resolveDivision(resolved)?.group
  const { name: site } = getSettings(resolved, platformSettings)
  return {
    async run(keep, { roles: clients, signal, report }) {
      const set = new Date(now()).toISOString().replaceAll(/[:.]/g, '-')
      if (fs.mkdirSync(dir, { recursive: true, mode: 0o700 })) grantGroupAccess(dir, group, 0o750)
      // The remains of an interrupted set are as large as the databases.
      for (const draft of fs.readdirSync(dir).filter(isDraft)) fs.rmSync(join(dir, draft), { recursive: true })
      const draft = draftFolder(dir, set)
      try {
        fs.mkdirSync(draft, { mode: 0o700 })
        // Each role may add files, and none may change the files of another.
        grantGroupAccess(draft, group, 0o1770)
        const databases: BackupEntry[] = []
        const names = listBackupRoles(folder, resolved)
        for (const role of names) {
          await report(databases.length, names.length)
          databases.push(await requestRoleCopy(role, set, clients, signal))
        }
        await report(names.length, names.length)
        requireExactSet(draft, databases)
        writeBackupManifest(draft, await signBackupManifest({ site, databases, now: now(), signatures }))
        fs.renameSync(draft, join(dir, set))
        syncFolder(dir)
      } catch (error) {
        discardDraft(draft)
        throw error
      }
      pruneSets(dir, set, keep)
      return set
    },
  }
}

/** Roles of the profile, and roles with data here: omitting one would lose its data silently. */
function listBackupRoles(folder: SiteFolder, resolved: ResolvedSettings): string[] {
  const { roles: roleNames } = getSettings(resolved, platformSettings)
  return roles
    .map(({ name }) => name)
    .filter((name) => roleNames.includes(name) || fs.existsSync(roleDataFolder(folder, name)))
}

/** Requests the copy of one role. The role responds regularly while it copies, so no time limit applies to the whole. */
async function requestRoleCopy(
  role: string,
  set: string,
  clients: RoleClients,
  signal: AbortSignal,
): Promise<BackupEntry> {
  try {
    for (;;) {
      signal.throwIfAborted()
      const response = await untilAborted(signal, throwRefusal(clients.request(backupContract(role), { set })))
      if (response.state === 'done')
        return { role, file: databaseFileName(role), sha256: response.sha256, bytes: response.bytes }
    }
  } catch (error) {
    signal.throwIfAborted()
    const reason = error instanceof Error ? error.message : String(error)
    const text = `the backup failed: the role ${role} made no copy: ${reason}`
    // The code decides whether a later attempt may succeed, as it will with a role that is still starting.
    throw isRefusal(error) ? refuse(error.code, text) : new Error(text, { cause: error })
  }
}

/** Leaves an answer that is no longer awaited to itself: a role may copy for as long as a request lasts. */
async function untilAborted<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    return await Promise.race([answer, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Closes the set to the roles, and accepts it only with exactly the files that they reported. */
function requireExactSet(draft: string, databases: readonly BackupEntry[]): void {
  fs.chmodSync(draft, 0o700)
  const present = fs.readdirSync(draft).sort()
  const expected = databases.map(({ file }) => file).sort()
  if (present.join() !== expected.join())
    throw new Error(`the backup failed: the set holds ${present.join(', ')}; expected ${expected.join(', ')}`)
  for (const { file, bytes } of databases) {
    const stats = fs.lstatSync(join(draft, file))
    if (!stats.isFile() || stats.size !== bytes) throw new Error(`the backup failed: ${file} is not what was copied`)
  }
}

function grantGroupAccess(dir: string, group: number | undefined, mode: number): void {
  if (group === undefined) return
  fs.chownSync(dir, fs.statSync(dir).uid, group)
  fs.chmodSync(dir, mode)
}

/** Removes the draft. The next backup reports a draft that cannot be removed. */
function discardDraft(draft: string): void {
  try {
    fs.rmSync(draft, { recursive: true, force: true })
  } catch {}
}

function isDraft(name: string): boolean {
  return name.startsWith('.') && name.endsWith('.part') && backupName.safeParse(name.slice(1, -'.part'.length)).success
}

/** Removes the oldest sets, but never the new one, even if a wrong clock dated others later. Ignores other names. */
function pruneSets(dir: string, newSet: string, keep: number): void {
  const sets = fs.readdirSync(dir).filter((name) => backupName.safeParse(name).success && name !== newSet)
  const oldestFirst = sets.sort()
  const excess_count = Math.max(0, oldestFirst.length + 1 - keep)
  for (const name of oldestFirst.slice(0, excess_count)) fs.rmSync(join(dir, name), { recursive: true })
}
