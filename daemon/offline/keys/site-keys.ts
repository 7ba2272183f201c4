// The site's own keys for commands: created, listed, rotated, revoked, exported.
import { exportJwks, importJwks, type Jwks } from '../../../adapters/keys/jose/jwks.ts'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import {
  generateKey,
  hasWrappedKeys,
  listKeys,
  revokeKey,
  rotateKey,
  unwrapKeys,
  wrapKeys,
} from '../../../adapters/keys/jose/key-lifecycle.ts'
import { repairKeyList, updateKeyList } from '../../boot/identity/token-key-list.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { KeyAlgorithm, PublicKey } from '../../kernel/cryptography/signatures.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { isWrappingKeyId } from '../../kernel/secret/data-key.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { requireDataFolder } from '../audit/require-data-folder.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { EnvironmentVariables } from '../site/site-profile.ts'
import {
  type KeyRotationOptions,
  type KeyRotationResult,
  requireSigningCapacity,
  revokeKeyInSet,
  rotateKeyInSet,
} from './key-rotation.ts'
import {
  generateRoleKey,
  listRoleKeys,
  type RoleKey,
  requireRoleKeyAccess,
  revokeRoleKey,
  rotateRoleKey,
} from './role-keys.ts'
import {
  decryptSecretKeys,
  encryptSecretKeys,
  hasEncryptedWrappingKeys,
  type WrappingKeyEntry,
} from './wrapping-keys.ts'

export type KeyGenerationOptions = {
  readonly algorithm?: KeyAlgorithm
  /** Epoch milliseconds. */
  readonly now: number
  readonly not_after?: string
  /** Passphrase to encrypt the private half with; default: not encrypted. */
  readonly passphrase?: string | undefined
}

/** Creates a key of the site; with `role` and use `token`, the key with which that role authenticates to the others. */
export async function generateSiteKey(
  folder: SiteFolder,
  env: EnvironmentVariables,
  use: PublicKey['use'],
  terms: KeyGenerationOptions,
  role?: string,
): Promise<PublicKey> {
  requireDataFolder(folder)
  requireSigningCapacity(folder, use, terms.now)
  const { passphrase: _own, ...roleTerms } = terms
  const key = role ? await generateRoleKey(folder, role, roleTerms) : await generateKey(folder.keys, { use, ...terms })
  await repairKeyList(folder)
  const detail = { fingerprint: key.fingerprint, ...(role ? { role } : {}) }
  await recordOperatorAction(folder, env, { action: 'site.key.generate', target: key.kid, detail })
  return key
}

/** Creates a key in a folder outside of a site, such as a person's own medium; nothing is recorded. */
export async function generateKeyInFolder(
  dir: string,
  use: PublicKey['use'],
  terms: KeyGenerationOptions,
): Promise<PublicKey> {
  return await generateKey(dir, { use, ...terms })
}

/** A folder of keys, of a site or a medium. */
export type KeyLocation = Pick<SiteFolder, 'keys'>

/** A key of the site or the medium, or of a role, which it then names. */
export type SiteKeyEntry = PublicKey & Partial<Pick<RoleKey, 'role'>>

/** Lists keys oldest first; those of roles after the site's own. */
export function listSiteKeys(folder: KeyLocation | SiteFolder): SiteKeyEntry[] {
  return [...listKeys(folder.keys), ...('identity' in folder ? listRoleKeys(folder) : [])]
}

/**
 * Rotates a key. Throws `OfflineCommandError` for an unknown or inactive key or too short an overlap; and
 * `KeyLockedError`.
 */
export async function rotateSiteKey(
  folder: SiteFolder,
  env: EnvironmentVariables,
  kid: string,
  terms: KeyRotationOptions,
): Promise<KeyRotationResult> {
  const key = findSiteKey(folder, kid)
  requireDataFolder(folder)
  const { status, role, use } = key
  if (status !== 'active') throw new OfflineCommandError(3, `${kid} is ${status}; only an active key can be rotated`)
  if (use === 'message' || use === 'root') return await rotateKeyInSet(folder, env, omitRole(key), terms)
  if (use === 'authority')
    throw new OfflineCommandError(
      2,
      'an authority cannot be rotated; replace it with `platform keys ca init --replace`',
    )
  const { overlap_s: _overlap, passphrase, ...options } = terms
  const rotation = role
    ? await rotateRoleKey(folder, role, kid, options)
    : await rotateKey(folder.keys, kid, { ...options, ...(isKeyWrapped(folder, kid) ? { passphrase } : {}) })
  await repairKeyList(folder)
  await recordOperatorAction(folder, env, {
    action: 'site.key.rotate',
    target: kid,
    detail: { successor: rotation.created.kid },
  })
  return rotation
}

const replacement_commands: Readonly<Partial<Record<PublicKey['use'], string>>> = {
  authority: 'platform keys ca init --replace',
}

export type KeyRevocationResult = {
  readonly revoked: PublicKey
  readonly created?: PublicKey
  readonly key_set?: number
}

/**
 * Revokes a key for good; with `replace`, makes a new one in the place of a key that peers pin. Throws
 * `OfflineCommandError` for an unknown key, and `KeyLockedError`.
 */
export async function revokeSiteKey(
  folder: SiteFolder,
  env: EnvironmentVariables,
  kid: string,
  terms: KeyRotationOptions & { readonly replace: boolean },
): Promise<KeyRevocationResult> {
  const key = findSiteKey(folder, kid)
  requireDataFolder(folder)
  const { role, use } = key
  if (use === 'message' || use === 'root') return await revokeKeyInSet(folder, env, omitRole(key), terms)
  if (terms.replace)
    throw new OfflineCommandError(
      2,
      `--replace works for message and root keys; for a ${use} key run \`${replacement_commands[use] ?? `platform keys generate --use ${use}`}\``,
    )
  if (role) requireRoleKeyAccess(folder, role)
  // Updates the list first, so that no process accepts signatures of the key even if a later step fails.
  await updateKeyList(folder, (listed) => listed.map((key) => (key.kid === kid ? { ...key, status: 'revoked' } : key)))
  const revoked = role ? await revokeRoleKey(folder, role, kid) : revokeKey(folder.keys, kid)
  await recordOperatorAction(folder, env, { action: 'site.key.revoke', target: kid })
  return { revoked }
}

function omitRole({ role: _role, ...key }: SiteKeyEntry): PublicKey {
  return key
}

function isKeyWrapped(folder: KeyLocation, kid: string): boolean {
  return readKeyFiles(folder.keys).some((key) => key.public_key.kid === kid && key.private_jwe !== undefined)
}

/** Whether a key of the folder, or one of this use, is encrypted. */
export function needsPassphrase(folder: KeyLocation, use?: PublicKey['use']): boolean {
  return hasWrappedKeys(folder.keys, use) || (use === undefined && hasEncryptedWrappingKeys(folder))
}

/** Encrypts the keys of the folder, or those of one use; returns the kids of those that were not encrypted before. */
export async function wrapSiteKeys(
  location: KeyLocation | SiteFolder,
  env: EnvironmentVariables,
  passphrase: string,
  use: PublicKey['use'] | WrappingKeyEntry['use'] | undefined,
): Promise<string[]> {
  if ('profile' in location) requireDataFolder(location)
  const signing = use === 'secret' ? [] : await wrapKeys(location.keys, passphrase, use)
  const wrapping = use === undefined || use === 'secret' ? await encryptSecretKeys(location, passphrase) : []
  const kids = [...signing, ...wrapping]
  if ('profile' in location && kids.length > 0) await recordKeyAction(location, env, 'site.key.wrap', kids)
  return kids
}

/** Decrypts the keys. Throws `KeyLockedError` before it changes anything. */
export async function unwrapSiteKeys(
  location: KeyLocation | SiteFolder,
  env: EnvironmentVariables,
  passphrase: string,
): Promise<string[]> {
  if ('profile' in location) requireDataFolder(location)
  const kids = [...(await unwrapKeys(location.keys, passphrase)), ...(await decryptSecretKeys(location, passphrase))]
  if ('profile' in location && kids.length > 0) await recordKeyAction(location, env, 'site.key.unwrap', kids)
  return kids
}

async function recordKeyAction(folder: SiteFolder, env: EnvironmentVariables, action: string, kids: readonly string[]) {
  await recordOperatorAction(folder, env, {
    action,
    target: kids.length === 1 ? String(kids[0]) : 'keys',
    detail: { kids },
  })
}

export function exportSiteJwks(folder: KeyLocation, use: PublicKey['use'] | undefined): Jwks {
  return exportJwks(folder.keys, use)
}

/** Parses the keys of an exported JWKS. Throws `OfflineCommandError` for other text. */
export function parseJwks(text: string): PublicKey[] {
  const content = parseJson(text)
  try {
    if (content === undefined) throw new Error('the file is not JSON, or names a member twice')
    return importJwks(content)
  } catch (error) {
    throw new OfflineCommandError(
      2,
      `the keys cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      '`platform keys export` at the other site writes the file',
    )
  }
}

/** Finds a key by kid. Throws `OfflineCommandError` (1) if there is none. */
export function findSiteKey(folder: SiteFolder, kid: string): SiteKeyEntry {
  if (isWrappingKeyId(kid))
    throw new OfflineCommandError(
      2,
      `${kid} opens secrets, also those in backups, so it can be rotated and not be revoked`,
      `platform keys rotate ${kid}`,
    )
  const key = listSiteKeys(folder).find((key) => key.kid === kid)
  if (!key) throw new OfflineCommandError(1, `the site has no key ${kid}`, '`platform keys list` lists the keys')
  return key
}
