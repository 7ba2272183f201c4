// The site's data as files: how much there is, whether it is sound, copies of it, and the way back from a copy.
import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, join, resolve } from 'node:path'
import * as z from 'zod'
import { takeLock } from '../../../adapters/store/sqlite/lock.ts'
import type { Role } from '../../kernel/role.ts'
import { roles } from '../../roles.ts'
import { databaseOf, type SiteFolder } from '../site-folder.ts'
import { addonFolder } from '../stock.ts'
import { faultsIn, Objection } from './objection.ts'
import { rolesWithDatabase, sizeOf, withDatabase, withFile } from './role-database.ts'

export type Holding = {
  readonly role: string
  readonly file: string
  readonly bytes: number
  readonly audit_records: number
  /** Collection to documents. */
  readonly documents: Readonly<Record<string, number>>
}

export async function holdings(folder: SiteFolder): Promise<Holding[]> {
  const found: Holding[] = []
  for (const role of rolesWithDatabase(folder)) {
    const bytes = sizeOf(folder, role)
    found.push(
      await withDatabase(folder, role, async ({ file, store, audit }) => {
        const counts = role.collections.map(async (each) => [each.name, await store.count(each)] as const)
        const documents = Object.fromEntries(await Promise.all(counts))
        return { role: role.name, file, bytes, audit_records: (await audit.head()).seq, documents }
      }),
    )
  }
  return found
}

export type Soundness = { readonly role: string; readonly faults: readonly string[] }

/** Every page, every document, every audit record. */
export async function check(folder: SiteFolder, progress: (text: string) => void): Promise<Soundness[]> {
  const found: Soundness[] = []
  for (const role of rolesWithDatabase(folder)) {
    progress(`checking ${role.name}`)
    found.push(await soundnessOf(role, () => withDatabase(folder, role, ({ store }) => store.check())))
  }
  return found
}

/** A file that cannot even be opened is the fault that is looked for. */
async function soundnessOf(role: Role, look: () => Promise<string[]>): Promise<Soundness> {
  try {
    return { role: role.name, faults: await look() }
  } catch (error) {
    return { role: role.name, faults: [error instanceof Error ? error.message : String(error)] }
  }
}

const manifest = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.backup'),
  made: z.iso.datetime(),
  databases: z
    .array(
      z.strictObject({
        role: z.string(),
        file: z.string().regex(/^[a-z][a-z0-9-]*\.db$/),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
        bytes: z.int().min(0),
      }),
    )
    .min(1),
})
export type BackupManifest = z.infer<typeof manifest>

/** Consistent copies into a folder that must not exist, while the site runs or not. `now` in epoch milliseconds. */
export async function backup(
  folder: SiteFolder,
  to: string,
  now: number,
  progress: (text: string) => void,
): Promise<BackupManifest> {
  const present = rolesWithDatabase(folder)
  if (present.length === 0) throw new Objection(1, 'the site has no data yet')
  makeFolder(to)
  const databases = []
  for (const role of present) {
    progress(`copying ${role.name}`)
    const file = `${role.name}.db`
    const copy = join(to, file)
    await withDatabase(folder, role, ({ store }) => store.backup(copy))
    databases.push({ role: role.name, file, ...(await fingerprintOf(copy)) })
  }
  const made = manifest.parse({ v: 1, type: 'platform.backup', made: new Date(now).toISOString(), databases })
  writeDurably(join(to, 'manifest.json'), `${JSON.stringify(made, undefined, 2)}\n`)
  return made
}

/** Only into a folder made by us, so that no backup is ever mixed with another. */
function makeFolder(to: string): void {
  try {
    fs.mkdirSync(to, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new Objection(3, `${to} exists already`, 'name a folder that does not')
    if (code === 'ENOENT') throw new Objection(2, `the folder that ${to} should be made in does not exist`)
    throw error
  }
}

export type Restored = { readonly roles: readonly string[]; readonly kept: string }

/**
 * Puts a backup in the place of the site's data. Everything is verified first: digests, every page, every document, the
 * audit chain. What was there is kept in `data/before-restore-<time>`. Throws `Objection`: 3 while a role runs, 5 for a backup that is not sound.
 */
export async function restore(
  folder: SiteFolder,
  from: string,
  now: number,
  progress: (text: string) => void,
): Promise<Restored> {
  const { databases } = readManifest(from)
  const locks = lockAll(folder)
  const staging = join(folder.data, `.restore-${randomBytes(6).toString('hex')}`)
  try {
    fs.mkdirSync(staging, { mode: 0o700 })
    for (const entry of databases) {
      progress(`verifying ${entry.role}`)
      await stage(folder, join(from, entry.file), join(staging, entry.file), entry)
    }
    const kept = join(folder.data, `before-restore-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`)
    exchange(
      folder,
      staging,
      kept,
      databases.map(({ file }) => file),
    )
    return { roles: databases.map(({ role }) => role), kept }
  } finally {
    fs.rmSync(staging, { recursive: true, force: true })
    for (const lock of locks) lock.release()
  }
}

/** No role can start while its data is exchanged. */
function lockAll(folder: SiteFolder): { release(): void }[] {
  const locks: { release(): void }[] = []
  for (const { name } of roles) {
    const lock = takeLock(join(folder.run, `${name}.lock`), addonFolder(folder))
    if (lock) {
      locks.push(lock)
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
  const read = manifest.safeParse(jsonOf(text))
  if (!read.success) throw new Objection(5, `manifest.json is not that of a backup: ${faultsIn(read.error)}`)
  return read.data
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Entry = BackupManifest['databases'][number]

/** The copy is verified where it will be used, so that nothing can change between the look and the use. */
async function stage(folder: SiteFolder, source: string, copy: string, entry: Entry): Promise<void> {
  const role = roles.find((known) => known.name === entry.role)
  if (!role || basename(databaseOf(folder, entry.role)) !== entry.file) {
    throw new Objection(5, `the backup holds ${entry.file} of ${entry.role}, which this version does not know`)
  }
  fs.copyFileSync(source, copy, fs.constants.COPYFILE_EXCL)
  fs.chmodSync(copy, 0o600)
  const { sha256 } = await fingerprintOf(copy)
  if (sha256 !== entry.sha256) throw new Objection(5, `${entry.file} is not the file that the manifest names`)
  const faults = await withFile(copy, addonFolder(folder), role, ({ store }) => store.check())
  if (faults.length > 0) throw new Objection(5, `${entry.file} is not sound: ${faults[0]}`)
}

function exchange(folder: SiteFolder, staging: string, kept: string, files: readonly string[]): void {
  fs.mkdirSync(kept, { mode: 0o700 })
  for (const file of files) {
    for (const part of [file, `${file}-wal`, `${file}-shm`]) {
      const here = join(folder.data, part)
      if (fs.existsSync(here)) fs.renameSync(here, join(kept, part))
    }
    fs.renameSync(join(staging, file), join(folder.data, file))
  }
  syncPath(folder.data)
}

async function fingerprintOf(file: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const part of fs.createReadStream(file)) {
    hash.update(part as Buffer)
    bytes += (part as Buffer).length
  }
  return { sha256: hash.digest('hex'), bytes }
}

function writeDurably(file: string, text: string): void {
  fs.writeFileSync(file, text, { flag: 'wx', mode: 0o600, flush: true })
  syncPath(resolve(file, '..'))
}

function syncPath(folder: string): void {
  const opened = fs.openSync(folder, 'r')
  try {
    fs.fsyncSync(opened)
  } finally {
    fs.closeSync(opened)
  }
}
