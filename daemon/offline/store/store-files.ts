// The site's data as files: size, integrity, and backups.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import {
  type BackupEntry,
  databaseFileName,
  fingerprintFile,
  type SignedBackupManifest,
  signBackupManifest,
  writeBackupManifest,
} from '../../boot/backup/backup-set.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { passphraseReader } from '../../boot/host/passphrase.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { Role } from '../../kernel/role/role.ts'
import type { Store } from '../../kernel/store/store.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import {
  listRolesWithDatabase,
  measureDatabase,
  type RoleDatabase,
  withDatabase,
  withDocuments,
} from './role-database.ts'

export type RoleStoreStatus = {
  readonly role: string
  readonly file: string
  readonly bytes: number
  readonly audit_records: number
  /** Collection to documents. */
  readonly documents: Readonly<Record<string, number>>
}

/** `only`: the role to read; default: all. */
export async function readStoreStatus(
  folder: SiteFolder,
  env: EnvironmentVariables,
  only?: string,
): Promise<RoleStoreStatus[]> {
  const results: RoleStoreStatus[] = []
  for (const role of listRolesWithDatabase(folder, only)) {
    const bytes = measureDatabase(folder, role)
    results.push(
      await withDatabase(folder, role, async (database) => {
        const documents = await withDocuments(folder, env, database, async (store) => {
          const counts = role.collections.map(
            async (collection) => [collection.name, await store.count(collection)] as const,
          )
          return Object.fromEntries(await Promise.all(counts))
        })
        const { file, audit } = database
        return { role: role.name, file, bytes, audit_records: (await audit.head()).seq, documents }
      }),
    )
  }
  return results
}

export type StoreCheckResult = { readonly role: string; readonly faults: readonly string[] }

/** Checks every page, document and audit record, including those in a cluster. `only`: the role to check; default: all. */
export async function checkDatabases(
  folder: SiteFolder,
  env: EnvironmentVariables,
  progress: (text: string) => void,
  only?: string,
): Promise<StoreCheckResult[]> {
  const results: StoreCheckResult[] = []
  for (const role of listRolesWithDatabase(folder, only)) {
    progress(`checking ${role.name}`)
    const examine = (database: RoleDatabase) => findStoreFaults(folder, env, database)
    results.push(await checkRoleDatabase(role, () => withDatabase(folder, role, examine)))
  }
  return results
}

async function findStoreFaults(
  folder: SiteFolder,
  env: EnvironmentVariables,
  database: RoleDatabase,
): Promise<string[]> {
  const fileFaults = await database.store.check()
  const checkCluster = (store: Store) => (store === database.store ? [] : store.check())
  return [...fileFaults, ...(await withDocuments(folder, env, database, async (store) => checkCluster(store)))]
}

/** Reports a file that cannot be opened as a fault. */
async function checkRoleDatabase(role: Role, examine: () => Promise<string[]>): Promise<StoreCheckResult> {
  try {
    return { role: role.name, faults: await examine() }
  } catch (error) {
    return { role: role.name, faults: [error instanceof Error ? error.message : String(error)] }
  }
}

/**
 * Makes consistent copies in a folder that must not exist, whether or not the site runs. Records the destination,
 * which a later purge must report. `now` in epoch milliseconds.
 */
export async function backupStore(
  folder: SiteFolder,
  env: EnvironmentVariables,
  to: string,
  now: number,
  progress: (text: string) => void,
): Promise<SignedBackupManifest> {
  const backedUpRoles = listRolesWithDatabase(folder)
  if (backedUpRoles.length === 0) throw new OfflineCommandError(1, 'the site has no data yet')
  runAsInvoker(() => createBackupFolder(to))
  const databases: BackupEntry[] = []
  for (const role of backedUpRoles) {
    progress(`copying ${role.name}`)
    const file = databaseFileName(role.name)
    const copy = join(to, file)
    // Opened as its owner, copied as the invoking user.
    await withDatabase(folder, role, ({ store }) => runAsInvoker(() => store.backup(copy)))
    databases.push({ role: role.name, file, ...(await runAsInvoker(() => fingerprintFile(copy))) })
  }
  const { platform, identity } = readSiteSettings(folder, env)
  const signatures = joseSignatures({ dir: folder.keys, passphrase: passphraseReader(identity.keys_passphrase_file) })
  const manifest = await signBackupManifest({ site: platform.name, databases, now, signatures })
  runAsInvoker(() => writeBackupManifest(to, manifest))
  if (backedUpRoles.some(({ name }) => name === 'site')) {
    const roles = backedUpRoles.map(({ name }) => name)
    await recordOperatorAction(folder, env, { action: 'site.store.backup', target: to, detail: { roles } })
  }
  return manifest
}

/** Creates the folder, so that backups are never mixed. */
function createBackupFolder(to: string): void {
  try {
    fs.mkdirSync(to, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new OfflineCommandError(3, `${to} already exists`, 'name a new folder')
    if (code === 'ENOENT') throw new OfflineCommandError(2, `${to} cannot be created: its parent folder does not exist`)
    throw error
  }
}
