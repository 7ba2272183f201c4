// Restores a whole site onto an empty folder: everything is verified beside it, and appears under its name at once.
import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { decryptByPassphrase } from '../../../adapters/keys/jose/wrapped-key.ts'
import { syncFolder } from '../../../adapters/platform/durable-file/sync-folder.ts'
import type { BackupManifest } from '../../boot/backup/backup-set.ts'
import { siteFolder } from '../../boot/storage/site-folder.ts'
import { parseJsonAs } from '../../kernel/encoding/parse-json.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { listPeers } from '../peers/site-peers.ts'
import { openBackupFile, readBackupManifest } from '../store/backup-manifest.ts'
import { restoreBackup } from '../store/store-restore.ts'
import { site_files_name } from './site-backup.ts'
import { type SiteFiles, siteFiles, writeSiteFiles } from './site-files.ts'
import type { EnvironmentVariables } from './site-profile.ts'

export type SiteRestoreOptions = {
  /** Folder of the backup. */
  readonly from: string
  /** Folder of the site; absent or empty. */
  readonly dir: string
  readonly passphrase: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly progress: (text: string) => void
}

export type SiteRestoreResult = {
  readonly site: string
  readonly roles: readonly string[]
  /** No channel to them sends before its next epoch is opened. */
  readonly peers: readonly string[]
}

/**
 * The passphrase authenticates the keys, and these verify the signature over the databases. Throws `OfflineCommandError`: 3
 * for a folder that is not empty and for a wrong passphrase, 5 for a damaged or forged backup; nothing has changed then.
 */
export async function restoreSite(
  env: EnvironmentVariables,
  { from, dir, passphrase, now, progress }: SiteRestoreOptions,
): Promise<SiteRestoreResult> {
  requireEmpty(dir)
  const files = await openSiteFiles(from, readBackupManifest(from), passphrase)
  const stage = `${dir}.restore-${randomBytes(6).toString('hex')}`
  fs.mkdirSync(stage, { mode: 0o700 })
  try {
    writeSiteFiles(stage, from, files)
    const folder = siteFolder(stage)
    const options = { from, trusted: listKeys(folder.keys), now, progress }
    const { roles, kept } = await restoreBackup(folder, env, options)
    // Nothing was replaced.
    for (const path of kept) fs.rmSync(path, { recursive: true })
    const peers = (await listPeers(folder)).map(({ name }) => name)
    if (fs.existsSync(dir)) fs.rmdirSync(dir)
    fs.renameSync(stage, dir)
    syncFolder(dirname(dir))
    return { site: files.site, roles, peers }
  } catch (error) {
    fs.rmSync(stage, { recursive: true, force: true })
    throw error
  }
}

function requireEmpty(dir: string): void {
  const names = fs.existsSync(dir) ? fs.readdirSync(dir) : []
  if (names.length === 0) return
  throw new OfflineCommandError(
    3,
    `${dir} is not empty`,
    'name a folder that does not exist; `platform store restore` replaces the databases of an existing site',
  )
}

async function openSiteFiles(from: string, manifest: BackupManifest, passphrase: string): Promise<SiteFiles> {
  const expected = manifest.v === 2 ? manifest.site_files : undefined
  if (!expected)
    throw new OfflineCommandError(
      5,
      'the backup holds the databases alone',
      '`platform store restore` restores them; for the whole site: `platform site backup DIR`',
    )
  const text = readBackupText(from)
  if (createHash('sha256').update(text).digest('hex') !== expected.sha256)
    throw new OfflineCommandError(5, `${site_files_name} does not match its digest in the manifest`)
  const bytes = await decryptByPassphrase(text, passphrase)
  if (!bytes) throw new OfflineCommandError(3, `the passphrase does not open ${site_files_name}`)
  const files = parseJsonAs(siteFiles, Buffer.from(bytes).toString('utf8'))
  if (files) return files
  throw new OfflineCommandError(5, `${site_files_name} does not hold the files of a site`)
}

function readBackupText(from: string): string {
  const file = openBackupFile(from, site_files_name)
  try {
    return fs.readFileSync(file, 'utf8')
  } finally {
    fs.closeSync(file)
  }
}
