// Restores a backup: verifies everything first, then replaces each role's data, and keeps the replaced data.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { invoker } from '../../../adapters/host/users/system-users.ts'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { findSchemaFaults } from '../../../adapters/store/sqlite/schema/schema-faults.ts'
import { type BackupEntry, copyToNewFile, databaseFileName } from '../../boot/backup/backup-set.ts'
import { runAsInvoker, runAsOwnerOf } from '../../boot/host/act-as-owner.ts'
import { ensureRunFolder } from '../../boot/storage/role-storage.ts'
import { roleDatabaseFile, roleDataFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import type { JournalChannel } from '../../kernel/messaging/journal.ts'
import type { RoleOutline } from '../../kernel/role/role.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type RoleTaskContext, roleTask } from '../role-task/role-task.ts'
import { runRoleTask } from '../role-task/run-role-task.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { openBackupFile, readBackupManifest, requireKnownRole, requireSignature } from './backup-manifest.ts'
import {
  exchangeDatabases,
  isExchangeInterrupted,
  stagedDatabaseFile,
  undoInterruptedExchange,
} from './database-exchange.ts'
import { createRestoreEventFactory, freezeRestoredChannels, listFrozenIncoming } from './restored-channels.ts'
import { type PurgeOrdersWithFinds, readPurgeOrders, reapplyPurges } from './restored-purges.ts'
import { requireOwnership, withDatabaseFile } from './role-database.ts'
import { lockAllRoles, releaseLocks } from './role-locks.ts'

export type RestoreResult = {
  readonly roles: readonly string[]
  /** Folders with the replaced data. */
  readonly kept: readonly string[]
  /** Number of purges since the backup that were repeated; undefined if the replaced data cannot be read. */
  readonly purged_again?: number | undefined
}

/** A verified copy in its own folder beside the data that it will replace. */
type StagedRestore = { readonly role: RoleOutline; readonly stage: string; readonly dir: string; readonly file: string }

export type RestoreOptions = {
  /** Folder of the backup. */
  readonly from: string
  /** Public keys of the site; default: those in its key folder. */
  readonly trusted?: readonly PublicKey[] | undefined
  /** Accepts a manifest without a valid signature. */
  readonly unsigned?: boolean
  /** Epoch milliseconds. */
  readonly now: number
  readonly progress: (text: string) => void
}

/**
 * Replaces the site's data by a backup, completely or not at all. Verifies everything first: the signature, digests,
 * the schema, every page, every document, the audit chain. Keeps the replaced data in
 * `data/<role>/before-restore-<time>`; the new data belongs to the same user. After a restore of the site role's data,
 * no channel sends until its next epoch is opened. Throws `OfflineCommandError`: 3 while a role runs, 5 for a damaged
 * or forged backup.
 */
export async function restoreBackup(
  folder: SiteFolder,
  env: EnvironmentVariables,
  { from, trusted, unsigned = false, now, progress }: RestoreOptions,
): Promise<RestoreResult> {
  const manifest = runAsInvoker(() => readBackupManifest(from))
  if (!unsigned)
    await requireSignature(manifest, readSiteSettings(folder, env).platform.name, trusted ?? listKeys(folder.keys))
  const planned = manifest.databases.map((entry) => ({ entry, role: requireKnownRole(entry) }))
  for (const { role } of planned) requireOwnership(roleDataFolder(folder, role.name), `the data of ${role.name}`)
  const locks = await lockAllRoles(folder)
  undoInterruptedExchange(folder)
  const staged: StagedRestore[] = []
  let purged_again: number | undefined
  try {
    for (const { entry, role } of planned) {
      progress(`verifying ${role.name}`)
      const stage = runAsOwnerOf(roleDataFolder(folder, role.name), () => createRestoreStage(folder, role))
      staged.push(stage)
      await copyAndVerify({ folder, env, role }, stage, from, entry)
      if (role.name === 'site') purged_again = await prepareStage({ folder, env, role }, stage, now)
    }
    const name = `before-restore-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`
    const kept = exchangeDatabases(folder, {
      name,
      staged: staged.map(({ role, stage }) => ({ role: role.name, stage })),
    })
    return { roles: staged.map(({ role }) => role.name), kept, purged_again }
  } finally {
    // An exchange that could not be taken back needs the copies for the next attempt.
    for (const { role, dir } of isExchangeInterrupted(folder) ? [] : staged) {
      runAsOwnerOf(roleDataFolder(folder, role.name), () => fs.rmSync(dir, { recursive: true, force: true }))
    }
    await releaseLocks(locks)
  }
}

/** Takes back a restore that was interrupted. Throws `OfflineCommandError` (3) while a role runs. */
export async function undoRestore(folder: SiteFolder): Promise<void> {
  const locks = await lockAllRoles(folder)
  try {
    undoInterruptedExchange(folder)
  } finally {
    await releaseLocks(locks)
  }
}

function createRestoreStage(folder: SiteFolder, role: RoleOutline): StagedRestore {
  const stage = `.restore-${randomBytes(6).toString('hex')}`
  const dir = join(roleDataFolder(folder, role.name), stage)
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  return { role, stage, dir, file: stagedDatabaseFile(folder, role.name, stage) }
}

async function copyAndVerify(
  context: RoleTaskContext,
  { dir, file }: StagedRestore,
  from: string,
  entry: BackupEntry,
): Promise<void> {
  const source = runAsInvoker(() => openBackupFile(from, entry.file))
  try {
    const { size } = fs.fstatSync(source)
    if (size !== entry.bytes)
      throw new OfflineCommandError(5, `${entry.file} has ${size} bytes; the manifest states ${entry.bytes}`)
    await runRoleTask(stageDatabase, { ...context, file: source }, { dir, to: file, sha256: entry.sha256 })
  } finally {
    fs.closeSync(source)
  }
}

/** Verifies the copy where it will be used, so that it cannot change between verification and use. */
export const stageDatabase = roleTask({
  name: 'stage-database',
  input: z.strictObject({ dir: z.string(), to: z.string(), sha256: z.string() }),
  event: z.never(),
  output: z.null(),
  async run({ folder, role, file: source }, { dir, to, sha256 }) {
    const name = databaseFileName(role.name)
    if (source === undefined) throw new Error('no file was given')
    if ((await copyToNewFile(source, to)).sha256 !== sha256)
      throw new OfflineCommandError(5, `${name} does not match its digest in the manifest`)
    const addonDir = ensureRunFolder(folder, role.name)
    const schemaFaults = await findSchemaFaults({ file: to, addonDir }, join(dir, 'schema.db'))
    if (schemaFaults.length > 0)
      throw new OfflineCommandError(5, `${name} is not a database of this program: ${schemaFaults[0]}`)
    const faults = await withDatabaseFile(to, addonDir, role, ({ store }) => store.check())
    if (faults.length > 0) throw new OfflineCommandError(5, `${name} is damaged: ${faults[0]}`)
    return null
  },
})

/**
 * Runs before the data is in place, so that the site can never send as if it had its latest state. Returns the number
 * of purges that the backup did not have; undefined if the replaced database cannot be read.
 */
async function prepareStage(context: RoleTaskContext, { file }: StagedRestore, now: number) {
  const { tenant_id } = readSiteSettings(context.folder, context.env).platform
  const input = { file, tenant_id, now, subject: `cli:${invoker()}` }
  return (await runRoleTask(prepareSiteDatabase, context, input)).purged_again
}

export const prepareSiteDatabase = roleTask({
  name: 'prepare-site-database',
  input: z.strictObject({ file: z.string(), tenant_id: z.string(), now: z.number(), subject: z.string() }),
  event: z.never(),
  output: z.strictObject({ purged_again: z.int().min(0).optional() }),
  async run({ folder, role }, { file, ...origin }) {
    const event = createRestoreEventFactory(origin)
    const candidate = await readSurvivingState(folder, role)
    return await withDatabaseFile(file, ensureRunFolder(folder, role.name), role, async (database) => {
      await freezeRestoredChannels(database, candidate?.frozen ?? [], event)
      if (!candidate) return {}
      const audit = (digest: string) => event(digest, { purged: true })
      return { purged_again: await reapplyPurges(database, candidate.orders, audit) }
    })
  },
})

type SurvivingState = { readonly orders: PurgeOrdersWithFinds; readonly frozen: readonly JournalChannel[] }

/**
 * Reads the records that must survive the restore. Undefined if the database is missing or damaged, which may be the
 * reason for the restore.
 */
async function readSurvivingState(folder: SiteFolder, role: RoleOutline): Promise<SurvivingState | undefined> {
  const current = roleDatabaseFile(folder, role.name)
  if (!fs.existsSync(current)) return undefined
  try {
    return await withDatabaseFile(current, ensureRunFolder(folder, role.name), role, async (database) => ({
      orders: await readPurgeOrders(database),
      frozen: await listFrozenIncoming(database),
    }))
  } catch {
    return undefined
  }
}
