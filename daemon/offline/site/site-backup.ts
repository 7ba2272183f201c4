// Backs a whole site up: databases and messages as they are, and one encrypted file with keys and everything else.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { encryptByPassphrase } from '../../../adapters/keys/jose/wrapped-key.ts'
import { syncFolder } from '../../../adapters/platform/durable-file/sync-folder.ts'
import { type FileFingerprint, fingerprintOpenFile, type SignedBackupManifest } from '../../boot/backup/backup-set.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { backupStore } from '../store/store-files.ts'
import { collectSiteFiles } from './site-files.ts'
import { type EnvironmentVariables, readSiteSettings } from './site-profile.ts'

/** The encrypted file of a backup. */
export const site_files_name = 'site.jwe'

export type SiteBackupOptions = {
  /** Folder to create. */
  readonly to: string
  readonly passphrase: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly progress: (text: string) => void
}

/**
 * Whether or not the site runs. All or nothing: a backup that failed is removed. Private keys leave the site only inside
 * the encrypted file, whose digest the site signs together with those of the databases.
 */
export async function backupSite(
  folder: SiteFolder,
  env: EnvironmentVariables,
  { to, passphrase, now, progress }: SiteBackupOptions,
): Promise<SignedBackupManifest> {
  const isNew = !fs.existsSync(to)
  try {
    return await backupStore(folder, env, to, now, progress, async () => {
      progress('encrypting keys and other files')
      const { platform } = readSiteSettings(folder, env)
      const files = runAsInvoker(() => collectSiteFiles(folder, platform.name, to))
      const text = await encryptByPassphrase(Buffer.from(JSON.stringify(files)), passphrase)
      return await runAsInvoker(() => writeNewFile(to, site_files_name, text))
    })
  } catch (error) {
    if (isNew) runAsInvoker(() => fs.rmSync(to, { recursive: true, force: true }))
    throw error
  }
}

async function writeNewFile(dir: string, name: string, text: string): Promise<FileFingerprint> {
  const path = join(dir, name)
  fs.writeFileSync(path, text, { flag: 'wx', mode: 0o600, flush: true })
  syncFolder(dir)
  const file = fs.openSync(path, 'r')
  try {
    return await fingerprintOpenFile(file)
  } finally {
    fs.closeSync(file)
  }
}
