// The way back from a backup: everything verified first, then each role's data exchanged, and what was there kept.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join, resolve } from 'node:path'
import { everyRole } from '../../every-role.ts'
import type { Channel } from '../../kernel/journal.ts'
import { inOneLine, parseBy } from '../../kernel/parsing.ts'
import type { Role } from '../../kernel/role.ts'
import { asInvoker, asOwnerOf } from '../acting.ts'
import { type BackupEntry, type BackupManifest, copyNew, fileOf, manifest, syncPath } from '../backup-set.ts'
import { databaseOf, dataOf, runOf, type SiteFolder } from '../site-folder.ts'
import { runFolder, takeRole } from '../stock.ts'
import { Objection } from './objection.ts'
import { frozenIncoming, holdChannels, restoreEvents } from './restored-channels.ts'
import { type Orders, purgeAgain, purgeOrdersIn } from './restored-purges.ts'
import { requireOwn, withFile } from './role-database.ts'
import { type Environment, siteSettings } from './site-profile.ts'

export type Restored = {
  readonly roles: readonly string[]
  /** Folders with what was there. */
  readonly kept: readonly string[]
  /** Purges ordered after the backup was made, and carried out on it; undefined where what was there cannot be read. */
  readonly purged_again?: number | undefined
}

/** A verified copy in a folder of its own beside the data that it will replace. */
type Staged = { readonly role: Role; readonly dir: string; readonly file: string }

/**
 * Puts a backup in the place of the site's data. Everything is verified first: digests, every page, every document, the
 * audit chain. What was there is kept in `data/<role>/before-restore-<time>`; what is new belongs to the same user.
 * With the site role's data no channel sends until its next epoch is opened.
 * Throws `Objection`: 3 while a role runs, 5 for a backup that is not sound.
 */
export async function restore(
  folder: SiteFolder,
  env: Environment,
  from: string,
  now: number,
  progress: (text: string) => void,
): Promise<Restored> {
  const { databases } = asInvoker(() => readManifest(from))
  const wanted = databases.map((entry) => ({ entry, role: roleOf(entry) }))
  for (const { role } of wanted) requireOwn(dataOf(folder, role.name), `the data of ${role.name}`)
  const locks = lockAll(folder)
  const staged: Staged[] = []
  let purged_again: number | undefined
  try {
    for (const { entry, role } of wanted) {
      progress(`verifying ${role.name}`)
      const place = asOwnerOf(dataOf(folder, role.name), () => makeStage(folder, role))
      staged.push(place)
      await fill(folder, place, from, entry)
      if (role.name === 'site') purged_again = await hold(folder, env, place, now)
    }
    const name = `before-restore-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`
    const kept = staged.map((place) => asOwnerOf(dataOf(folder, place.role.name), () => exchange(folder, place, name)))
    return { roles: staged.map(({ role }) => role.name), kept, purged_again }
  } finally {
    for (const { role, dir } of staged) {
      asOwnerOf(dataOf(folder, role.name), () => fs.rmSync(dir, { recursive: true, force: true }))
    }
    for (const lock of locks) lock.release()
  }
}

/** No role can start while its data is exchanged. */
export function lockAll(folder: SiteFolder): { release(): void }[] {
  const locks: { release(): void }[] = []
  for (const { name } of everyRole) {
    const run = runOf(folder, name)
    const lock = asOwnerOf(run, () => takeRole(folder, name))
    if (lock) {
      locks.push({ release: () => asOwnerOf(run, lock.release) })
      continue
    }
    for (const taken of locks) taken.release()
    throw new Objection(3, `the role ${name} runs`, 'stop the site first')
  }
  return locks
}

function readManifest(from: string): BackupManifest {
  let text: string
  try {
    text = fs.readFileSync(join(from, 'manifest.json'), 'utf8')
  } catch {
    throw new Objection(1, `there is no backup in ${resolve(from)}: it has no manifest.json`)
  }
  const read = parseBy(manifest, jsonOf(text))
  if (!read.success) throw new Objection(5, `manifest.json is not that of a backup: ${inOneLine(read.errors)}`)
  return read.data
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function roleOf(entry: BackupEntry): Role {
  const role = everyRole.find((known) => known.name === entry.role)
  if (role && entry.file === fileOf(role.name)) return role
  throw new Objection(5, `the backup holds ${entry.file} of ${entry.role}, which this version does not know`)
}

function makeStage(folder: SiteFolder, role: Role): Staged {
  const dir = join(dataOf(folder, role.name), `.restore-${randomBytes(6).toString('hex')}`)
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  return { role, dir, file: join(dir, fileOf(role.name)) }
}

/** The copy is verified where it will be used, so that nothing can change between the look and the use. */
async function fill(folder: SiteFolder, { role, file }: Staged, from: string, entry: BackupEntry): Promise<void> {
  const source = asInvoker(() => fs.openSync(join(from, entry.file), 'r'))
  try {
    await asOwnerOf(dataOf(folder, role.name), async () => {
      const { sha256 } = await copyNew(source, file)
      if (sha256 !== entry.sha256) throw new Objection(5, `${entry.file} is not the file that the manifest names`)
      const faults = await withFile(file, runFolder(folder, role.name), role, ({ store }) => store.check())
      if (faults.length > 0) throw new Objection(5, `${entry.file} is not sound: ${faults[0]}`)
    })
  } finally {
    fs.closeSync(source)
  }
}

/**
 * Before it is in its place: there is no moment at which the site could send as if nothing were forgotten. How many purges
 * the backup did not know; undefined where the database that it replaces cannot tell.
 */
async function hold(folder: SiteFolder, env: Environment, { role, file }: Staged, now: number) {
  const event = restoreEvents(siteSettings(folder, env).platform.tenant_id, now)
  return await asOwnerOf(dataOf(folder, role.name), async () => {
    const known = await knownUntilNow(folder, role)
    return await withFile(file, runFolder(folder, role.name), role, async (database) => {
      await holdChannels(database, known?.frozen ?? [], event)
      return known && (await purgeAgain(database, known.orders, (digest) => event(digest, { purged: true })))
    })
  })
}

type Known = { readonly orders: Orders; readonly frozen: readonly Channel[] }

/** What must outlive the restore. Undefined where there is no database, or a damaged one, which may be why it is replaced. */
async function knownUntilNow(folder: SiteFolder, role: Role): Promise<Known | undefined> {
  const current = databaseOf(folder, role.name)
  if (!fs.existsSync(current)) return undefined
  try {
    return await withFile(current, runFolder(folder, role.name), role, async (database) => ({
      orders: await purgeOrdersIn(database),
      frozen: await frozenIncoming(database),
    }))
  } catch {
    return undefined
  }
}

function exchange(folder: SiteFolder, { role, file }: Staged, name: string): string {
  const data = dataOf(folder, role.name)
  const kept = join(data, name)
  const current = databaseOf(folder, role.name)
  fs.mkdirSync(kept, { mode: 0o700 })
  for (const part of ['', '-wal', '-shm']) {
    if (fs.existsSync(`${current}${part}`))
      fs.renameSync(`${current}${part}`, join(kept, `${fileOf(role.name)}${part}`))
  }
  fs.renameSync(file, current)
  syncPath(data)
  return kept
}
