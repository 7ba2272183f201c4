// The keys that wrap the data keys of roles, for commands: listed, rotated, encrypted with a passphrase.
import {
  createWrappingKey,
  decryptWrappingKeys,
  encryptWrappingKeys,
  openWrappingKey,
  readWrappingKeys,
  type StoredWrappingKey,
} from '../../../adapters/keys/jose/wrapping-keys.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { requireDataFolder } from '../audit/require-data-folder.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { EnvironmentVariables } from '../site/site-profile.ts'

type KeyFolderLocation = Pick<SiteFolder, 'keys'>

/** `active`: data keys are wrapped by it. `retired`: it still opens what it wrapped, also in backups. */
export type WrappingKeyEntry = {
  readonly kid: string
  readonly use: 'secret'
  readonly algorithm: 'A256GCM'
  readonly status: 'active' | 'retired'
  readonly created: string
}

export type WrappingKeyRotation = { readonly created: WrappingKeyEntry; readonly retired: WrappingKeyEntry }

/** The wrapping keys of a key folder, oldest first. */
export function listWrappingKeys({ keys }: KeyFolderLocation): WrappingKeyEntry[] {
  const stored = readWrappingKeys(keys)
  return stored.map((key) => describeKey(key, key === stored.at(-1)))
}

export function hasEncryptedWrappingKeys({ keys }: KeyFolderLocation): boolean {
  return readWrappingKeys(keys).some(({ jwe }) => jwe !== undefined)
}

export const encryptSecretKeys = ({ keys }: KeyFolderLocation, passphrase: string) =>
  encryptWrappingKeys(keys, passphrase)

export const decryptSecretKeys = ({ keys }: KeyFolderLocation, passphrase: string) =>
  decryptWrappingKeys(keys, passphrase)

/**
 * Gives the site a new wrapping key, under the passphrase if the old one is. Running roles encrypt their secrets again
 * within the hour. Throws `OfflineCommandError` for an unknown or a retired key, and `KeyLockedError`.
 */
export async function rotateWrappingKey(
  folder: SiteFolder,
  env: EnvironmentVariables,
  kid: string,
  { now, passphrase }: { readonly now: number; readonly passphrase?: string | undefined },
): Promise<WrappingKeyRotation> {
  requireDataFolder(folder)
  const stored = readWrappingKeys(folder.keys)
  const current = stored.at(-1)
  if (!current || !stored.some((key) => key.kid === kid))
    throw new OfflineCommandError(1, `the site has no key ${kid}`, '`platform keys list` lists the keys')
  if (current.kid !== kid)
    throw new OfflineCommandError(3, `${kid} is retired; only an active key can be rotated: ${current.kid}`)
  const isEncrypted = current.jwe !== undefined
  // The new key must open by the passphrase that the site serves with.
  await openWrappingKey(current, () => passphrase)
  const created = await createWrappingKey(folder.keys, { now, passphrase: isEncrypted ? passphrase : undefined })
  await recordOperatorAction(folder, env, {
    action: 'site.key.rotate',
    target: kid,
    detail: { successor: created.kid },
  })
  return { created: describeKey(created, true), retired: describeKey(current, false) }
}

function describeKey({ kid, created }: StoredWrappingKey, isCurrent: boolean): WrappingKeyEntry {
  return { kid, use: 'secret', algorithm: 'A256GCM', status: isCurrent ? 'active' : 'retired', created }
}
