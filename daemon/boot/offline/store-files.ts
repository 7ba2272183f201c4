// The site's data as files: how much there is, whether it is sound, and copies of it.
import * as fs from 'node:fs'
import { join } from 'node:path'
import type { Role } from '../../kernel/role.ts'
import type { Store } from '../../kernel/store.ts'
import { asInvoker } from '../acting.ts'
import { type BackupEntry, type BackupManifest, fileOf, fingerprintOf, writeManifest } from '../backup-set.ts'
import type { SiteFolder } from '../site-folder.ts'
import { record } from './deed.ts'
import { Objection } from './objection.ts'
import { type RoleDatabase, rolesWithDatabase, sizeOf, withDatabase, withDocuments } from './role-database.ts'
import type { Environment } from './site-profile.ts'

export type Holding = {
  readonly role: string
  readonly file: string
  readonly bytes: number
  readonly audit_records: number
  /** Collection to documents. */
  readonly documents: Readonly<Record<string, number>>
}

export async function holdings(folder: SiteFolder, env: Environment): Promise<Holding[]> {
  const found: Holding[] = []
  for (const role of rolesWithDatabase(folder)) {
    const bytes = sizeOf(folder, role)
    found.push(
      await withDatabase(folder, role, async (database) => {
        const documents = await withDocuments(folder, env, database, async (store) => {
          const counts = role.collections.map(async (each) => [each.name, await store.count(each)] as const)
          return Object.fromEntries(await Promise.all(counts))
        })
        const { file, audit } = database
        return { role: role.name, file, bytes, audit_records: (await audit.head()).seq, documents }
      }),
    )
  }
  return found
}

export type Soundness = { readonly role: string; readonly faults: readonly string[] }

/** Every page, every document, every audit record; those in a cluster too. */
export async function check(
  folder: SiteFolder,
  env: Environment,
  progress: (text: string) => void,
): Promise<Soundness[]> {
  const found: Soundness[] = []
  for (const role of rolesWithDatabase(folder)) {
    progress(`checking ${role.name}`)
    const look = (database: RoleDatabase) => faultsOf(folder, env, database)
    found.push(await soundnessOf(role, () => withDatabase(folder, role, look)))
  }
  return found
}

async function faultsOf(folder: SiteFolder, env: Environment, database: RoleDatabase): Promise<string[]> {
  const here = await database.store.check()
  const elsewhere = (store: Store) => (store === database.store ? [] : store.check())
  return [...here, ...(await withDocuments(folder, env, database, async (store) => elsewhere(store)))]
}

/** A file that cannot even be opened is the fault that is looked for. */
async function soundnessOf(role: Role, look: () => Promise<string[]>): Promise<Soundness> {
  try {
    return { role: role.name, faults: await look() }
  } catch (error) {
    return { role: role.name, faults: [error instanceof Error ? error.message : String(error)] }
  }
}

/**
 * Consistent copies into a folder that must not exist, while the site runs or not. It is on record where they went: whoever
 * purges a body must know of them. `now` in epoch milliseconds.
 */
export async function backup(
  folder: SiteFolder,
  env: Environment,
  to: string,
  now: number,
  progress: (text: string) => void,
): Promise<BackupManifest> {
  const present = rolesWithDatabase(folder)
  if (present.length === 0) throw new Objection(1, 'the site has no data yet')
  asInvoker(() => makeFolder(to))
  const databases: BackupEntry[] = []
  for (const role of present) {
    progress(`copying ${role.name}`)
    const file = fileOf(role.name)
    const copy = join(to, file)
    // Opened as its owner, copied as whoever may write there.
    await withDatabase(folder, role, ({ store }) => asInvoker(() => store.backup(copy)))
    databases.push({ role: role.name, file, ...(await asInvoker(() => fingerprintOf(copy))) })
  }
  const made = asInvoker(() => writeManifest(to, databases, now))
  if (present.some(({ name }) => name === 'site')) {
    const roles = present.map(({ name }) => name)
    await record(folder, env, { action: 'site.store.backup', target: to, detail: { roles } })
  }
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
