// An insider and the rows of its key set: what they say of a key, and what follows from the key itself.
import type { InsiderAttack } from './insider-attack.ts'
import { alterKeys, sendKeySet } from './key-attacks.ts'

export const keyRowAttacks: readonly InsiderAttack[] = [
  {
    name: 'shows a fingerprint that is not its key’s',
    act: sendKeySet(({ peer }) => ({
      keys: alterKeys(peer, 'message', (key) => ({ ...key, fingerprint: 'A'.repeat(43) })),
    })),
    quarantined: ['REFUSED invalid'],
  },
  {
    name: 'names another algorithm than its key has',
    act: sendKeySet(({ peer }) => ({ keys: alterKeys(peer, 'message', (key) => ({ ...key, algorithm: 'ES384' })) })),
    quarantined: ['REFUSED invalid'],
  },
  {
    name: 'publishes a private member of a key',
    act: sendKeySet(({ peer }) => ({
      keys: alterKeys(peer, 'message', (key) => ({ ...key, jwk: { ...key.jwk, d: 'A'.repeat(43) } })),
    })),
    quarantined: ['REFUSED invalid'],
  },
]
