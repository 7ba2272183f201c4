// Checks before the start that the passphrase decrypts the keys that the site serves with.
import { importSigningKey } from '../../../adapters/keys/jose/crypto-keys.ts'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { openWrappingKey, readWrappingKeys } from '../../../adapters/keys/jose/wrapping-keys.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { passphraseReader } from '../host/passphrase.ts'
import type { SiteFolder } from '../storage/site-folder.ts'

/** Root keys may have another passphrase, since no running role signs with them. */
const servingUses: ReadonlySet<PublicKey['use']> = new Set(['message', 'token'])

/** The fault; undefined if all keys decrypt, which this process then caches. Throws if the folder cannot be read. */
export async function findLockedKeyFault(
  folder: Pick<SiteFolder, 'keys'>,
  file: string | undefined,
): Promise<string | undefined> {
  const lockedKeys = readKeyFiles(folder.keys).filter(
    ({ public_key: { use, status }, private_jwe }) =>
      private_jwe !== undefined && status === 'active' && servingUses.has(use),
  )
  const passphrase = passphraseReader(file)
  try {
    await Promise.all(lockedKeys.map((key) => importSigningKey(key, passphrase)))
    await Promise.all(readWrappingKeys(folder.keys).map((key) => openWrappingKey(key, passphrase)))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
