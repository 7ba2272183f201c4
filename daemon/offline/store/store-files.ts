// The site's data as files: size, integrity, and backups.
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { syncFolder } from '../../../adapters/platform/durable-file/sync-folder.ts'
import {
  appendFile,
  type BackupEntry,
  databaseFileName,
  type FileFingerprint,
  fingerprintOpenFile,
  type SignedBackupManifest,
  signBackupManifest,
  writeBackupManifest,
} from '../../boot/backup/backup-set.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { passphraseReader } from '../../boot/host/passphrase.ts'
import { roleDataFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import type { RoleOutline } from '../../kernel/role/role.ts'
import type { Store } from '../../kernel/store/store.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type RoleTaskContext, roleTask } from '../role-task/role-task.ts'
import { runRoleTask } from '../role-task/run-role-task.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import {
  listRolesWithDatabase,
  measureDatabase,
  type RoleDatabase,
  withDatabase,
  withDocuments,
} from './role-database.ts'

const roleStoreStatus = z.strictObject({
  role: z.string(),
  file: z.string(),
  bytes: z.int().min(0),
  audit_records: z.int().min(0),
  documents: z.record(z.string(), z.int().min(0)).meta({ description: 'Collection to documents' }),
})
export type RoleStoreStatus = z.infer<typeof roleStoreStatus>

/** `only`: the role to read; default: all. */
export async function readStoreStatus(
  folder: SiteFolder,
  env: EnvironmentVariables,
  only?: string,
): Promise<RoleStoreStatus[]> {
  const results: RoleStoreStatus[] = []
  for (const role of listRolesWithDatabase(folder, only))
    results.push(await runRoleTask(readDatabaseStatus, { folder, env, role }, null))
  return results
}

export const readDatabaseStatus = roleTask({
  name: 'read-database-status',
  input: z.null(),
  event: z.never(),
  output: roleStoreStatus,
  run({ folder, env, role }) {
    const bytes = measureDatabase(folder, role)
    return withDatabase(folder, role, async (database) => {
      const documents = await withDocuments(folder, env, database, async (store) => {
        const counts = database.role.collections.map(
          async (collection) => [collection.name, await store.count(collection)] as const,
        )
        return Object.fromEntries(await Promise.all(counts))
      })
      const { file, audit } = database
      return { role: role.name, file, bytes, audit_records: (await audit.head()).seq, documents }
    })
  },
})

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
    const examine = () => runRoleTask(checkDatabase, { folder, env, role }, null)
    results.push(await checkRoleDatabase(role, examine))
  }
  return results
}

export const checkDatabase = roleTask({
  name: 'check-database',
  input: z.null(),
  event: z.never(),
  output: z.array(z.string()),
  run: ({ folder, env, role }) => withDatabase(folder, role, (database) => findStoreFaults(folder, env, database)),
})

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
async function checkRoleDatabase(role: RoleOutline, examine: () => Promise<string[]>): Promise<StoreCheckResult> {
  try {
    return { role: role.name, faults: await examine() }
  } catch (error) {
    return { role: role.name, faults: [error instanceof Error ? error.message : String(error)] }
  }
}

/**
 * Makes consistent copies in a folder that must not exist, whether or not the site runs. Records the destination,
 * which a later purge must report. `now` in epoch milliseconds. `writeSiteFiles`: adds the other files of the site.
 */
export async function backupStore(
  folder: SiteFolder,
  env: EnvironmentVariables,
  to: string,
  now: number,
  progress: (text: string) => void,
  writeSiteFiles?: () => Promise<FileFingerprint>,
): Promise<SignedBackupManifest> {
  const backedUpRoles = listRolesWithDatabase(folder)
  if (backedUpRoles.length === 0) throw new OfflineCommandError(1, 'the site has no data yet')
  runAsInvoker(() => createBackupFolder(to))
  const databases: BackupEntry[] = []
  for (const role of backedUpRoles) {
    progress(`copying ${role.name}`)
    const file = databaseFileName(role.name)
    const copy = join(to, file)
    databases.push({ role: role.name, file, ...(await copyRoleDatabase({ folder, env, role }, copy)) })
  }
  const site_files = await writeSiteFiles?.()
  const { platform, identity } = readSiteSettings(folder, env)
  const signatures = joseSignatures({ dir: folder.keys, passphrase: passphraseReader(identity.keys_passphrase_file) })
  const manifest = await signBackupManifest({ site: platform.name, databases, site_files, now, signatures })
  runAsInvoker(() => writeBackupManifest(to, manifest))
  if (backedUpRoles.some(({ name }) => name === 'site')) {
    const roles = backedUpRoles.map(({ name }) => name)
    await recordOperatorAction(folder, env, { action: 'site.store.backup', target: to, detail: { roles } })
  }
  return manifest
}

/** Into a file that the invoking user owns, whatever the owner of the database may write. */
async function copyRoleDatabase(context: RoleTaskContext, copy: string): Promise<FileFingerprint> {
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants
  const file = runAsInvoker(() => fs.openSync(copy, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600))
  try {
    await runRoleTask(copyDatabase, { ...context, file }, null)
    fs.fsyncSync(file)
    runAsInvoker(() => syncFolder(dirname(copy)))
    return await fingerprintOpenFile(file)
  } finally {
    fs.closeSync(file)
  }
}

/** Writes a verified copy into the given file. SQLite writes to paths alone: to one that the role's user may write. */
export const copyDatabase = roleTask({
  name: 'copy-database',
  input: z.null(),
  event: z.never(),
  output: z.null(),
  async run({ folder, role, file }) {
    if (file === undefined) throw new Error('no file was given')
    const stage = fs.mkdtempSync(join(roleDataFolder(folder, role.name), '.backup-'))
    try {
      const copy = join(stage, databaseFileName(role.name))
      await withDatabase(folder, role, ({ store }) => store.backup(copy))
      await appendFile(copy, file)
    } finally {
      fs.rmSync(stage, { recursive: true, force: true })
    }
    return null
  },
})

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
