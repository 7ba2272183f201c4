// A backup as it lies on disk: a folder with one database for each role and a manifest, under its name once it is
// whole.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { syncFolder } from '../../../adapters/platform/durable-file/sync-folder.ts'
import { writeFully } from '../../../adapters/platform/durable-file/write-durably.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { settings as siteRoleSettings } from '../../roles/site/settings.ts'
import type { SiteFolder } from '../storage/site-folder.ts'

const fingerprintFields = { sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int().min(0) }

export const backupManifest = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.backup'),
  made: z.iso.datetime(),
  databases: z
    .array(z.strictObject({ role: z.string(), file: z.string().regex(/^[a-z][a-z0-9-]*\.db$/), ...fingerprintFields }))
    .min(1),
})
export type BackupManifest = z.infer<typeof backupManifest>
export type BackupEntry = BackupManifest['databases'][number]

/** Digest and size of a file. */
export type FileFingerprint = { readonly sha256: string; readonly bytes: number }

export function databaseFileName(role: string): string {
  return `${role}.db`
}

/** Where scheduled backups are made. */
export function backupSetsFolder(folder: SiteFolder, resolved: ResolvedSettings): string {
  return getSettings(resolved, siteRoleSettings).backup_dir ?? join(folder.data, 'backups')
}

/** A set that is not whole yet. */
export function draftFolder(dir: string, set: string): string {
  return join(dir, `.${set}.part`)
}

/**
 * Ends the making of a backup: what the folder holds is named. `now` in epoch milliseconds; durable when it returns.
 */
export function writeBackupManifest(dir: string, databases: readonly BackupEntry[], now: number): BackupManifest {
  const made = backupManifest.parse({ v: 1, type: 'platform.backup', made: new Date(now).toISOString(), databases })
  const file = join(dir, 'manifest.json')
  fs.writeFileSync(file, `${JSON.stringify(made, undefined, 2)}\n`, { flag: 'wx', mode: 0o600, flush: true })
  syncFolder(resolve(file, '..'))
  return made
}

export async function fingerprintFile(file: string): Promise<FileFingerprint> {
  return await digestStream(fs.createReadStream(file), () => undefined)
}

/**
 * Copies what is open as `from` into a new file (0600) that must not exist and is not a link; returns digest and size.
 * Durable when it resolves; nothing is left of a copy that fails. The caller closes `from`.
 */
export async function copyToNewFile(from: number, to: string): Promise<FileFingerprint> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants
  const target = fs.openSync(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    const source = fs.createReadStream('', { fd: from, autoClose: false, start: 0 })
    const found = await digestStream(source, (part) => writeFully(target, part))
    fs.fsyncSync(target)
    syncFolder(resolve(to, '..'))
    return found
  } catch (error) {
    fs.rmSync(to, { force: true })
    throw error
  } finally {
    fs.closeSync(target)
  }
}

async function digestStream(source: fs.ReadStream, see: (part: Buffer) => void): Promise<FileFingerprint> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const part of source as AsyncIterable<Buffer>) {
    hash.update(part)
    bytes += part.length
    see(part)
  }
  return { sha256: hash.digest('hex'), bytes }
}
