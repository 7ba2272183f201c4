// Scheduled backups: the site role begins a set, each role puts its own database into it, and a whole set gets its name.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { backupAnswer, setName } from '../kernel/builtin.ts'
import { platformSettings } from '../kernel/platform-settings.ts'
import type { Resolved } from '../kernel/settings.ts'
import type { Backups } from '../roles/site/parts.ts'
import { roles } from '../roles.ts'
import { type BackupEntry, draftOf, fileOf, setsFolder, syncPath, writeManifest } from './backup-set.ts'
import { divisionOf } from './division.ts'
import { builtInOf } from './operations.ts'
import { valuesOf } from './profile.ts'
import { dataOf, type SiteFolder } from './site-folder.ts'

type Materials = { readonly folder: SiteFolder; readonly resolved: Resolved; readonly now: () => number }
type Ask = Parameters<Backups['run']>[1]

/** Made like those of `platform store backup`, so that `platform store restore` takes them. */
export function scheduledBackups({ folder, resolved, now }: Materials): Backups {
  const dir = setsFolder(folder, resolved)
  const group = divisionOf(resolved)?.group
  return {
    async run(keep, ask) {
      const set = new Date(now()).toISOString().replaceAll(/[:.]/g, '-')
      if (fs.mkdirSync(dir, { recursive: true, mode: 0o700 })) openTo(dir, group, 0o750)
      // What a crash left of an earlier one is as large as the databases.
      for (const draft of fs.readdirSync(dir).filter(isDraft)) fs.rmSync(join(dir, draft), { recursive: true })
      const draft = draftOf(dir, set)
      try {
        fs.mkdirSync(draft, { mode: 0o700 })
        // Each role may add to it, and none may touch what another has added.
        openTo(draft, group, 0o1770)
        const databases: BackupEntry[] = []
        for (const role of rolesOf(folder, resolved)) databases.push(await copyOf(role, set, ask))
        finish(draft, databases, now())
        fs.renameSync(draft, join(dir, set))
        syncPath(dir)
      } catch (error) {
        discard(draft)
        throw error
      }
      prune(dir, set, keep)
      return set
    },
  }
}

/** Those that the profile runs, and those that have data here: to leave one out would be to lose it silently. */
function rolesOf(folder: SiteFolder, resolved: Resolved): string[] {
  const { roles: wanted } = valuesOf(resolved, platformSettings)
  return roles.map(({ name }) => name).filter((name) => wanted.includes(name) || fs.existsSync(dataOf(folder, name)))
}

/** A role answers at times while it copies, so that a large database outlasts no time limit. */
async function copyOf(role: string, set: string, ask: Ask): Promise<BackupEntry> {
  try {
    const operation = await builtInOf(role, 'backup')
    for (;;) {
      const answer = backupAnswer.parse(await ask(operation, { set }))
      if (answer.state === 'done') return { role, file: fileOf(role), sha256: answer.sha256, bytes: answer.bytes }
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`there is no backup: the role ${role} made no copy: ${why}`, { cause: error })
  }
}

/** Closes the set to the roles, and accepts it only with what they said they put there, and nothing else. */
function finish(draft: string, databases: readonly BackupEntry[], now: number): void {
  fs.chmodSync(draft, 0o700)
  const present = fs.readdirSync(draft).sort()
  const expected = databases.map(({ file }) => file).sort()
  if (present.join() !== expected.join()) throw new Error(`there is no backup: the set holds ${present.join(', ')}`)
  for (const { file, bytes } of databases) {
    const found = fs.lstatSync(join(draft, file))
    if (!found.isFile() || found.size !== bytes) throw new Error(`there is no backup: ${file} is not what was copied`)
  }
  writeManifest(draft, databases, now)
}

function openTo(dir: string, group: number | undefined, mode: number): void {
  if (group === undefined) return
  fs.chownSync(dir, fs.statSync(dir).uid, group)
  fs.chmodSync(dir, mode)
}

/** What cannot be removed is in the way of the next backup, which says so. */
function discard(draft: string): void {
  try {
    fs.rmSync(draft, { recursive: true, force: true })
  } catch {}
}

function isDraft(name: string): boolean {
  return name.startsWith('.') && name.endsWith('.part') && setName.safeParse(name.slice(1, -'.part'.length)).success
}

/** The one just made stays, also where a clock that was wrong made others that seem newer. Other names are not ours. */
function prune(dir: string, made: string, keep: number): void {
  const sets = fs.readdirSync(dir).filter((name) => setName.safeParse(name).success && name !== made)
  const oldestFirst = sets.sort()
  const tooMany = Math.max(0, oldestFirst.length + 1 - keep)
  for (const name of oldestFirst.slice(0, tooMany)) fs.rmSync(join(dir, name), { recursive: true })
}
