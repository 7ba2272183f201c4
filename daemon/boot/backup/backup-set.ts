// The files of a backup: a folder with one database for each role and a manifest, which gets its name once complete.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { syncFolder } from '../../../adapters/platform/durable-file/sync-folder.ts'
import { writeFully } from '../../../adapters/platform/durable-file/write-durably.ts'
import { jws, type Signatures } from '../../kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../kernel/encoding/canonical-json.ts'
import { siteName } from '../../kernel/messaging/statement.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { settings as siteRoleSettings } from '../../roles/site/settings.ts'
import type { SiteFolder } from '../storage/site-folder.ts'

const fingerprintFields = { sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.int().min(0) }

const backupEntry = z.strictObject({
  role: z.string(),
  file: z.string().regex(/^[a-z][a-z0-9-]*\.db$/),
  ...fingerprintFields,
})
export type BackupEntry = z.infer<typeof backupEntry>

const contentFields = {
  type: z.literal('platform.backup'),
  made: z.iso.datetime(),
  databases: z
    .array(backupEntry)
    .min(1)
    .max(64)
    .refine((entries) => new Set(entries.map(({ role }) => role)).size === entries.length, 'names a role twice')
    .refine((entries) => new Set(entries.map(({ file }) => file)).size === entries.length, 'names a file twice'),
}

/** The signed part of a manifest. `site`: name of the site whose data it is. */
const backupContents = z.strictObject({
  v: z.literal(2),
  site: siteName,
  ...contentFields,
  /** Of the encrypted file with everything else of the site; absent in a backup of the databases alone. */
  site_files: z.strictObject(fingerprintFields).optional(),
})
const signedManifest = backupContents.extend({ signature: jws })
export type SignedBackupManifest = z.infer<typeof signedManifest>

/** Version 1 has no signature. */
export const backupManifest = z.discriminatedUnion('v', [
  signedManifest,
  z.strictObject({ v: z.literal(1), ...contentFields }),
])
export type BackupManifest = z.infer<typeof backupManifest>

/** The bytes that the site signs: those of everything else in the manifest. */
export function signedManifestBytes({ signature: _, ...contents }: SignedBackupManifest): Uint8Array {
  return Buffer.from(canonicalJson(contents))
}

/** Digest and size of a file. */
export type FileFingerprint = { readonly sha256: string; readonly bytes: number }

export function databaseFileName(role: string): string {
  return `${role}.db`
}

/** Folder of scheduled backups. */
export function backupSetsFolder(folder: SiteFolder, resolved: ResolvedSettings): string {
  return getSettings(resolved, siteRoleSettings).backup_dir ?? join(folder.data, 'backups')
}

/** Folder of an incomplete set. */
export function draftFolder(dir: string, set: string): string {
  return join(dir, `.${set}.part`)
}

export type BackupManifestOptions = {
  readonly site: string
  readonly databases: readonly BackupEntry[]
  readonly site_files?: FileFingerprint | undefined
  /** Epoch milliseconds. */
  readonly now: number
  readonly signatures: Pick<Signatures, 'sign'>
}

/** The manifest of a complete backup, signed by the site. Throws `Refusal('unavailable')` without a key that signs. */
export async function signBackupManifest(options: BackupManifestOptions): Promise<SignedBackupManifest> {
  const { site, databases, site_files, now, signatures } = options
  const made = new Date(now).toISOString()
  const more = site_files ? { site_files } : {}
  const contents = backupContents.parse({ v: 2, site, type: 'platform.backup', made, databases, ...more })
  return { ...contents, signature: await signatures.sign('backup', Buffer.from(canonicalJson(contents))) }
}

/** Completes a backup: writes its manifest durably. */
export function writeBackupManifest(dir: string, manifest: SignedBackupManifest): void {
  const file = join(dir, 'manifest.json')
  fs.writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`, { flag: 'wx', mode: 0o600, flush: true })
  syncFolder(resolve(file, '..'))
}

/** Bytes and SHA-256 of an open file, from its beginning. */
export async function fingerprintOpenFile(file: number): Promise<FileFingerprint> {
  return await digestStream(fs.createReadStream('', { fd: file, autoClose: false, start: 0 }), () => undefined)
}

/** Writes the content of a file to an open one. */
export async function appendFile(from: string, target: number): Promise<void> {
  await digestStream(fs.createReadStream(from), (chunk) => writeFully(target, chunk))
}

/**
 * Copies the open file `from` into a new file (0600), which must not exist or be a link, and returns its fingerprint.
 * Durable once it resolves; a failed copy is removed. The caller closes `from`.
 */
export async function copyToNewFile(from: number, to: string): Promise<FileFingerprint> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = fs.constants
  const target = fs.openSync(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    const source = fs.createReadStream('', { fd: from, autoClose: false, start: 0 })
    const fingerprint = await digestStream(source, (chunk) => writeFully(target, chunk))
    fs.fsyncSync(target)
    syncFolder(resolve(to, '..'))
    return fingerprint
  } catch (error) {
    fs.rmSync(to, { force: true })
    throw error
  } finally {
    fs.closeSync(target)
  }
}

async function digestStream(source: fs.ReadStream, onChunk: (chunk: Buffer) => void): Promise<FileFingerprint> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of source as AsyncIterable<Buffer>) {
    hash.update(chunk)
    bytes += chunk.length
    onChunk(chunk)
  }
  return { sha256: hash.digest('hex'), bytes }
}
