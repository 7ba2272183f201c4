// Reads and verifies the manifest of a backup before anything of it is used.
import * as fs from 'node:fs'
import { join, resolve } from 'node:path'
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import {
  type BackupEntry,
  type BackupManifest,
  backupManifest,
  databaseFileName,
  signedManifestBytes,
} from '../../boot/backup/backup-set.ts'
import type { PublicKey, VerificationFailure } from '../../kernel/cryptography/signatures.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { formatFieldErrors, parseWithSchema } from '../../kernel/error/parsing.ts'
import type { RoleOutline } from '../../kernel/role/role.ts'
import { roles } from '../../roles.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

const max_manifest_bytes = 1_048_576

/** Throws `OfflineCommandError`: 1 for a folder that is not a backup, 5 for a manifest that is not valid. */
export function readBackupManifest(from: string): BackupManifest {
  if (!fs.existsSync(join(from, 'manifest.json')))
    throw new OfflineCommandError(1, `${resolve(from)} is not a backup: it has no manifest.json`)
  const file = openBackupFile(from, 'manifest.json')
  let text: string
  try {
    if (fs.fstatSync(file).size > max_manifest_bytes)
      throw new OfflineCommandError(5, `manifest.json is larger than ${max_manifest_bytes} bytes`)
    text = fs.readFileSync(file, 'utf8')
  } finally {
    fs.closeSync(file)
  }
  const parsed = parseWithSchema(backupManifest, parseJson(text))
  if (!parsed.success)
    throw new OfflineCommandError(5, `manifest.json is not valid: ${formatFieldErrors(parsed.errors)}`)
  return parsed.data
}

/** A regular file of the backup itself: a link could name any file that this user may read, and a pipe would wait. */
export function openBackupFile(from: string, name: string): number {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  let file: number
  try {
    file = fs.openSync(join(from, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new OfflineCommandError(
      5,
      `${name} of the backup ${code === 'ELOOP' ? 'is a link' : `cannot be read: ${code}`}`,
    )
  }
  if (fs.fstatSync(file).isFile()) return file
  fs.closeSync(file)
  throw new OfflineCommandError(5, `${name} of the backup is not a regular file`)
}

/** Requires that the site signed the manifest with a key that is trusted. Throws `OfflineCommandError` (5). */
export async function requireSignature(
  manifest: BackupManifest,
  site: string,
  trusted: readonly PublicKey[],
): Promise<void> {
  const remedy = 'name its public keys with --keys; --unsigned restores what anybody may have changed'
  if (manifest.v === 1) throw new OfflineCommandError(5, 'the backup is not signed: an earlier version made it', remedy)
  if (manifest.site !== site)
    throw new OfflineCommandError(5, `the backup is of the site ${manifest.site}, not of ${site}`)
  const verdict = await verifyJws('backup', manifest.signature, trusted)
  if (typeof verdict === 'string')
    throw new OfflineCommandError(5, `the signature of the backup is not valid: ${signatureFaults[verdict]}`, remedy)
  if (!Buffer.from(verdict.payload).equals(signedManifestBytes(manifest)))
    throw new OfflineCommandError(5, 'the manifest is not what the site signed')
}

const signatureFaults: Readonly<Record<VerificationFailure, string>> = {
  bad_signature: 'it was not made over this manifest',
  unknown_key: 'its key is not one of this site',
  key_revoked: 'its key was revoked',
}

/** The role whose database the entry names. Throws `OfflineCommandError` (5) for one that this version does not know. */
export function requireKnownRole(entry: BackupEntry): RoleOutline {
  const role = roles.find((candidate) => candidate.name === entry.role)
  if (role && entry.file === databaseFileName(role.name)) return role
  throw new OfflineCommandError(
    5,
    `the backup contains ${entry.file} of ${entry.role}, which this version does not support`,
  )
}
