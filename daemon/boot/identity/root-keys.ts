// The root keys that peers know the site by: those of its key set in force, else those that lie in its key folder.
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { readKeySets } from '../../../adapters/keys/jose/key-set-files.ts'
import { parseKeySet, selectUsableKeys } from '../../kernel/cryptography/key-set.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'

/** `threshold`: how many must sign. None where the root keys are kept apart and no set names them. `now` in epoch milliseconds. */
export function readRootKeys(dir: string, now: number): { keys: readonly PublicKey[]; threshold: number } {
  const last = readKeySets(dir).at(-1)
  const set = last && parseKeySet(last)
  const at = new Date(now).toISOString()
  if (set) return { keys: selectUsableKeys(set.keys, 'root', at), threshold: set.thresholds.root }
  return { keys: selectUsableKeys(listKeys(dir), 'root', at), threshold: 1 }
}
