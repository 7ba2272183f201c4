// Whether the site can open the keys that it serves with: asked before anything starts, not when the first message is to be signed.
import { importSigningKey } from '../../../adapters/keys/jose/crypto-keys.ts'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { passphraseReader } from '../host/passphrase.ts'
import type { SiteFolder } from '../storage/site-folder.ts'

/** A root key may lie under a passphrase of its own: nothing that runs signs with it. */
const servingUses: ReadonlySet<PublicKey['use']> = new Set(['message', 'token'])

/**
 * Why not; undefined when it can. Those that it opens stay open in this process. Throws for a folder that cannot be
 * read.
 */
export async function findLockedKeyFault(
  folder: Pick<SiteFolder, 'keys'>,
  file: string | undefined,
): Promise<string | undefined> {
  const closed = readKeyFiles(folder.keys).filter(
    ({ public_key: { use, status }, private_jwe }) =>
      private_jwe !== undefined && status === 'active' && servingUses.has(use),
  )
  const passphrase = passphraseReader(file)
  try {
    await Promise.all(closed.map((key) => importSigningKey(key, passphrase)))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
