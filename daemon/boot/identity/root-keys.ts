// The root keys by which peers know the site: those of its current key set, else those in its key folder.
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { readKeySets } from '../../../adapters/keys/jose/key-set-files.ts'
import { parseKeySet, selectUsableKeys } from '../../kernel/cryptography/key-set.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'

/** `threshold`: number of keys that must sign. No keys if they are elsewhere and no set names them. `now` in epoch milliseconds. */
export function readRootKeys(dir: string, now: number): { keys: readonly PublicKey[]; threshold: number } {
  const latest = readKeySets(dir).at(-1)
  const set = latest && parseKeySet(latest)
  const nowText = new Date(now).toISOString()
  if (set) return { keys: selectUsableKeys(set.keys, 'root', nowText), threshold: set.thresholds.root }
  return { keys: selectUsableKeys(listKeys(dir), 'root', nowText), threshold: 1 }
}
