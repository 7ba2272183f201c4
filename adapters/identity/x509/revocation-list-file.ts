// The file of revocation lists: read again when it changes; while it is invalid, no certificate is accepted.
import { readFileSync, statSync } from 'node:fs'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'

/** How often the file is checked: a check holds for `every_ms` of the clock (milliseconds, never jumping). */
export type ListFileCheckInterval = { readonly every_ms: number; monotonic(): number }

const max_bytes = 64 * 1_048_576

/**
 * Returns the file parsed by `read`. Throws `Refusal('unavailable')` when it is absent, too large, or `read` throws;
 * `onFault` is called with the reason, once for each state of the file.
 */
export function revocationListFile<T>(
  file: string,
  read: (bytes: Buffer) => T,
  interval: ListFileCheckInterval,
  onFault: (reason: string) => void,
): () => T {
  let held: { readonly stamp: string; readonly value: T | undefined } | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  const load = (stamp: string): T | undefined => {
    try {
      return read(readBounded(file))
    } catch (error) {
      onFault(stamp === '' ? 'it is not there' : (error as Error).message)
      return undefined
    }
  }
  return () => {
    const now = interval.monotonic()
    if (!held || now - lookedAt >= interval.every_ms) {
      lookedAt = now
      const stamp = readStamp(file)
      if (held?.stamp !== stamp) held = { stamp, value: load(stamp) }
    }
    if (held?.value === undefined) throw new Refusal('unavailable', 'the revocation lists cannot be read')
    return held.value
  }
}

function readBounded(file: string): Buffer {
  const bytes = readFileSync(file)
  if (bytes.length > max_bytes) throw new Error(`the file is larger than ${max_bytes} bytes`)
  return bytes
}

function readStamp(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false })
  return stat ? `${stat.ino}.${stat.size}.${stat.mtimeNs}` : ''
}
