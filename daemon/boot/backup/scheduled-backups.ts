// Scheduled backups: the site role begins a set, each role puts its own database into it, and a whole set gets its
// name.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from '../../../adapters/platform/durable-file/sync-folder.ts'
import { type RoleClients, throwRefusal } from '../../kernel/operation/operation-contract.ts'
import { backupContract, backupName } from '../../kernel/role/built-in-operations.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { Backups } from '../../roles/site/parts.ts'
import { roles } from '../../roles.ts'
import { resolveDivision } from '../host/site-division.ts'
import { roleDataFolder, type SiteFolder } from '../storage/site-folder.ts'
import { type BackupEntry, backupSetsFolder, databaseFileName, draftFolder, writeBackupManifest } from './backup-set.ts'

type ScheduledBackupOptions = {
  readonly folder: SiteFolder
  readonly resolved: ResolvedSettings
  readonly now: () => number
}

/** Made like those of `platform store backup`, so that `platform store restore` takes them. */
export function scheduledBackups({ folder, resolved, now }: ScheduledBackupOptions): Backups {
  const dir = backupSetsFolder(folder, resolved)
  const group = resolveDivision(resolved)?.group
  return {
    async run(keep, clients) {
      const set = new Date(now()).toISOString().replaceAll(/[:.]/g, '-')
      if (fs.mkdirSync(dir, { recursive: true, mode: 0o700 })) grantGroupAccess(dir, group, 0o750)
      // Leftovers of a crash are as large as the databases.
      for (const draft of fs.readdirSync(dir).filter(isDraft)) fs.rmSync(join(dir, draft), { recursive: true })
      const draft = draftFolder(dir, set)
      try {
        fs.mkdirSync(draft, { mode: 0o700 })
        // Each role may add to it, and none may touch what another has added.
        grantGroupAccess(draft, group, 0o1770)
        const databases: BackupEntry[] = []
        for (const role of listBackupRoles(folder, resolved)) databases.push(await requestRoleCopy(role, set, clients))
        finishSet(draft, databases, now())
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

/** Those that the profile runs, and those that have data here: to leave one out would be to lose it silently. */
function listBackupRoles(folder: SiteFolder, resolved: ResolvedSettings): string[] {
  const { roles: wanted } = getSettings(resolved, platformSettings)
  return roles
    .map(({ name }) => name)
    .filter((name) => wanted.includes(name) || fs.existsSync(roleDataFolder(folder, name)))
}

/** A role answers at times while it copies, so that a large database outlasts no time limit. */
async function requestRoleCopy(role: string, set: string, clients: RoleClients): Promise<BackupEntry> {
  try {
    for (;;) {
      const answer = await throwRefusal(clients.request(backupContract(role), { set }))
      if (answer.state === 'done')
        return { role, file: databaseFileName(role), sha256: answer.sha256, bytes: answer.bytes }
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`there is no backup: the role ${role} made no copy: ${why}`, { cause: error })
  }
}

/** Closes the set to the roles, and accepts it only when it holds exactly the files that they reported. */
function finishSet(draft: string, databases: readonly BackupEntry[], now: number): void {
  fs.chmodSync(draft, 0o700)
  const present = fs.readdirSync(draft).sort()
  const expected = databases.map(({ file }) => file).sort()
  if (present.join() !== expected.join()) throw new Error(`there is no backup: the set holds ${present.join(', ')}`)
  for (const { file, bytes } of databases) {
    const found = fs.lstatSync(join(draft, file))
    if (!found.isFile() || found.size !== bytes) throw new Error(`there is no backup: ${file} is not what was copied`)
  }
  writeBackupManifest(draft, databases, now)
}

function grantGroupAccess(dir: string, group: number | undefined, mode: number): void {
  if (group === undefined) return
  fs.chownSync(dir, fs.statSync(dir).uid, group)
  fs.chmodSync(dir, mode)
}

/** A draft that cannot be removed makes the next backup fail with a message. */
function discardDraft(draft: string): void {
  try {
    fs.rmSync(draft, { recursive: true, force: true })
  } catch {}
}

function isDraft(name: string): boolean {
  return name.startsWith('.') && name.endsWith('.part') && backupName.safeParse(name.slice(1, -'.part'.length)).success
}

/** The one just made stays, also where a clock that was wrong made others that seem newer. Other names are not ours. */
function pruneSets(dir: string, made: string, keep: number): void {
  const sets = fs.readdirSync(dir).filter((name) => backupName.safeParse(name).success && name !== made)
  const oldestFirst = sets.sort()
  const tooMany = Math.max(0, oldestFirst.length + 1 - keep)
  for (const name of oldestFirst.slice(0, tooMany)) fs.rmSync(join(dir, name), { recursive: true })
}
