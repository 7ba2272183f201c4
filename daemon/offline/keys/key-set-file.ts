// Reads a key set file of another site, and checks that it can be pinned.
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { digestKeySet, keySetFile, readKeySet } from '../../kernel/cryptography/key-set.ts'
import type { Jws } from '../../kernel/cryptography/signatures.ts'
import { parseJsonAs } from '../../kernel/encoding/parse-json.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import { checkKeySet, type VerifiedKeySet } from '../../shared/key-set/key-succession.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** Sets oldest first; undefined for text that is not a key set file. */
export function parseKeySetFile(text: string): Jws[] | undefined {
  return parseJsonAs(keySetFile, text)?.sets
}

/** Returns the newest set, signed by its own root keys. Throws `OfflineCommandError` otherwise. */
export async function verifyNewestKeySet(sets: readonly Jws[]): Promise<VerifiedKeySet> {
  const latest = sets.at(-1)
  const set = latest && readKeySet(latest)
  if (!latest || !set) throw new OfflineCommandError(2, 'the file contains no key set')
  if (isRefusal(set)) throw new OfflineCommandError(3, `the key set cannot be used: ${set.message}`)
  const fault = await checkKeySet(set, latest, { signatures: { verify: verifyJws } })
  if (fault) throw new OfflineCommandError(3, fault.message)
  return { set, digest: digestKeySet(latest) }
}
