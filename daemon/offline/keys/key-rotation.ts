// Rotates and revokes keys that peers pin, by a new key set; in one step if enough root keys are in the site.
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey, listKeys, requirePassphraseOpens, revokeKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { selectUsableKeys } from '../../kernel/cryptography/key-set.ts'
import type { KeyAlgorithm, PublicKey } from '../../kernel/cryptography/signatures.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { EnvironmentVariables } from '../site/site-profile.ts'
import {
  hasRootQuorum,
  readCurrentKeySet,
  readShortestOverlap_s,
  renewSiteKeySet,
  type SiteKeySetOptions,
} from './site-key-sets.ts'

export type KeyRotationOptions = {
  readonly algorithm?: KeyAlgorithm
  /** Epoch milliseconds. */
  readonly now: number
  readonly not_after?: string
  /** Seconds for which the old message key stays active beside the new one; default: the shortest allowed. */
  readonly overlap_s?: number | undefined
  /** Passphrase of the site's private keys, if they are encrypted. */
  readonly passphrase?: string | undefined
}

export type KeyRotationResult = {
  readonly created: PublicKey
  /** The current state of the old key: a message key stays active until the end of the overlap. */
  readonly retired: PublicKey
  /** Version of the key set with the change; absent for a key that no peer pins, and while root keys are elsewhere. */
  readonly key_set?: number
}

/**
 * Rotates a key of use `message` or `root`. Without enough root keys here, the new key is made and the old one stays
 * active: the set that retires it must be drafted, signed and published. Throws `OfflineCommandError` (3) for too
 * short an overlap, and `KeyLockedError`.
 */
export async function rotateKeyInSet(
  folder: SiteFolder,
  env: EnvironmentVariables,
  old: PublicKey,
  { overlap_s, ...terms }: KeyRotationOptions,
): Promise<KeyRotationResult> {
  const shortest_s = await readShortestOverlap_s(folder)
  if (old.use === 'message' && overlap_s !== undefined && overlap_s < shortest_s) {
    throw new OfflineCommandError(
      3,
      `the overlap must be at least ${shortest_s / 3_600} hours, twice the longest transit time of messages`,
      'revoke a key that others may have instead: platform keys revoke KEY',
    )
  }
  const hasRootKeys = hasRootQuorum(folder, terms.now)
  const created = await generateSuccessor(folder, old, terms)
  await recordOperatorAction(folder, env, {
    action: 'site.key.rotate',
    target: old.kid,
    detail: { successor: created.kid },
  })
  if (!hasRootKeys) return { created, retired: old }
  const not_after = new Date(terms.now + (overlap_s ?? shortest_s) * 1_000).toISOString()
  const change =
    old.use === 'root' ? { status: 'retired' as const } : { not_after: pickEarlier(old.not_after, not_after) }
  const set = await publishRenewedSet(folder, env, { [old.kid]: change }, terms)
  const retired = listKeys(folder.keys).find(({ kid }) => kid === old.kid) ?? old
  return { created, retired, key_set: set.version }
}

/**
 * Revokes a key of use `message` or `root` at once; with `replace`, after making a new one. Publishes the set for the
 * peers if enough root keys are here and it leaves usable keys.
 */
export async function revokeKeyInSet(
  folder: SiteFolder,
  env: EnvironmentVariables,
  key: PublicKey,
  { replace, ...terms }: KeyRotationOptions & { readonly replace: boolean },
): Promise<{ revoked: PublicKey; created?: PublicKey; key_set?: number }> {
  const hasRootKeys = hasRootQuorum(folder, terms.now)
  if (hasRootKeys && !replace) await requirePassphraseOpens(folder.keys, terms.passphrase)
  const created = replace ? await generateSuccessor(folder, key, terms) : undefined
  const replacement = created ? { created } : {}
  const otherKeys = listKeys(folder.keys).filter(
    ({ use, status, kid }) => use === key.use && status === 'active' && kid !== key.kid,
  )
  const required = readCurrentKeySet(folder).set?.thresholds[key.use === 'root' ? 'root' : 'message'] ?? 1
  const revoke = async () => {
    const revoked = revokeKey(folder.keys, key.kid)
    await recordOperatorAction(folder, env, { action: 'site.key.revoke', target: key.kid })
    return revoked
  }
  if (!hasRootKeys || otherKeys.length < required) return { revoked: await revoke(), ...replacement }
  // A root key signs its own removal; a message key ends before anything else is done.
  const alreadyRevoked = key.use === 'message' ? await revoke() : undefined
  const set = await publishRenewedSet(folder, env, { [key.kid]: { status: 'revoked' } }, terms)
  return { revoked: alreadyRevoked ?? (await revoke()), ...replacement, key_set: set.version }
}

/**
 * Every active message key signs every message, and an envelope of 64 KiB cannot safely hold more signatures of
 * ML-DSA-87.
 */
const max_signing_keys = 8

/** Throws `OfflineCommandError` (3) if no further key of this use may be active. `now` in epoch milliseconds. */
export function requireSigningCapacity(folder: Pick<SiteFolder, 'keys'>, use: PublicKey['use'], now: number): void {
  const signing = selectUsableKeys(listKeys(folder.keys), 'message', new Date(now).toISOString())
  if (use !== 'message' || signing.length < max_signing_keys) return
  throw new OfflineCommandError(
    3,
    `${max_signing_keys} message keys are active, the maximum that an envelope can hold`,
    'wait until one has expired, or revoke one; `platform keys list` lists them',
  )
}

/** A new key in the folder would take the place of one in a security module unnoticed. */
function requireOwnPrivateHalf(folder: Pick<SiteFolder, 'keys'>, { kid, use }: PublicKey): void {
  const stored = readKeyFiles(folder.keys).find(({ public_key }) => public_key.kid === kid)
  if (stored?.signing_command === undefined) return
  throw new OfflineCommandError(
    3,
    `${kid} signs by a command, so its successor is made where its private half is`,
    `\`platform keys connect FILE --use ${use} --command PROGRAM\`, then \`platform keys set draft --retire ${kid} --out FILE\``,
  )
}

async function generateSuccessor(folder: SiteFolder, old: PublicKey, terms: KeyRotationOptions): Promise<PublicKey> {
  requireSigningCapacity(folder, old.use, terms.now)
  requireOwnPrivateHalf(folder, old)
  await requirePassphraseOpens(folder.keys, terms.passphrase)
  const isWrapped = readKeyFiles(folder.keys).some(
    ({ public_key, private_jwe }) => public_key.kid === old.kid && private_jwe !== undefined,
  )
  const { passphrase, ...options } = { algorithm: old.algorithm, ...terms }
  return await generateKey(folder.keys, { ...options, use: old.use, ...(isWrapped ? { passphrase } : {}) })
}

async function publishRenewedSet(
  folder: SiteFolder,
  env: EnvironmentVariables,
  change: SiteKeySetOptions['key_changes'],
  terms: KeyRotationOptions,
) {
  return await renewSiteKeySet(
    folder,
    env,
    { key_changes: change, thresholds: {}, now: terms.now },
    () => terms.passphrase,
  )
}

function pickEarlier(a: string | undefined, b: string): string {
  return a !== undefined && Date.parse(a) < Date.parse(b) ? a : b
}
