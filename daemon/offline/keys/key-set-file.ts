// A key set in a file that was carried here: what it holds, and whether people could pin it.
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { digestKeySet, keySetFile, parseKeySet } from '../../kernel/cryptography/key-set.ts'
import type { Jws } from '../../kernel/cryptography/signatures.ts'
import { checkKeySet, type VerifiedKeySet } from '../../roles/site/keyset/key-succession.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** Oldest first; undefined for text that is no key set file. */
export function parseKeySetFile(text: string): Jws[] | undefined {
  try {
    return keySetFile.safeParse(JSON.parse(text)).data?.sets
  } catch {
    return undefined
  }
}

/** The newest, signed by its own root keys. Throws `OfflineCommandError` for one that is not. */
export async function verifyNewestKeySet(sets: readonly Jws[]): Promise<VerifiedKeySet> {
  const last = sets.at(-1)
  const set = last && parseKeySet(last)
  if (!last || !set) throw new OfflineCommandError(2, 'the file holds no key set')
  const fault = await checkKeySet(set, last, { signatures: { verify: verifyJws } })
  if (fault) throw new OfflineCommandError(3, fault.message)
  return { set, digest: digestKeySet(last) }
}
