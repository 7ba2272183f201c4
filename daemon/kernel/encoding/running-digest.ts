// The SHA-256 of what comes piece by piece, for what is too large to be held at once.
import { createHash } from 'node:crypto'

export type RunningDigest = {
  add(piece: string | Uint8Array): void
  /** Lower-case hexadecimal; nothing can be added after it. */
  hex(): string
}

export function runningDigest(): RunningDigest {
  const hash = createHash('sha256')
  return { add: (piece) => void hash.update(piece), hex: () => hash.digest('hex') }
}
