// Every key of the vectors, and the time at which they are made.
import { deriveKey } from './fixed-keys.ts'

const key_created = '2026-01-01T00:00:00.000Z'

export const created = '2026-03-01T12:00:00.000Z'

/** Every key of the vectors. */
export const vectorKeys = {
  ed25519: deriveKey('alpha', 'Ed25519', { use: 'message', created: key_created }),
  es384: deriveKey('alpha', 'ES384', { use: 'message', created: key_created }),
  mldsa87: deriveKey('alpha', 'ML-DSA-87', { use: 'message', created: key_created }),
  ended: deriveKey('alpha ended', 'Ed25519', { use: 'message', created: key_created, not_after: created }),
  revoked: deriveKey('alpha revoked', 'Ed25519', { use: 'message', created: key_created, status: 'revoked' }),
  root: deriveKey('alpha', 'Ed25519', { use: 'root', created: key_created }),
  second_root: deriveKey('alpha second', 'Ed25519', { use: 'root', created: key_created }),
  next_root: deriveKey('alpha next', 'Ed25519', { use: 'root', created: key_created }),
  bravo: deriveKey('bravo', 'Ed25519', { use: 'message', created: key_created }),
  ann: deriveKey('ann', 'Ed25519', { use: 'personal', created: key_created }),
  stranger: deriveKey('stranger', 'Ed25519', { use: 'message', created: key_created }),
} as const
