// Incremental SHA-256, for data too large to hold in memory.
import { createHash } from 'node:crypto'

export type RunningDigest = {
  add(piece: string | Uint8Array): void
  /** The digest in lower-case hexadecimal. Nothing can be added after it. */
  hex(): string
}

export function runningDigest(): RunningDigest {
  const hash = createHash('sha256')
  return { add: (piece) => void hash.update(piece), hex: () => hash.digest('hex') }
}
