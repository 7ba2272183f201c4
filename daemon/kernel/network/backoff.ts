// The wait before the next attempt at a party that failed: longer with each failure, and never the same for two sites.

const min_wait_ms = 500
const max_wait_ms = 60_000

/** A uniform number from 0 to 1. `random`: that many random bytes as hexadecimal. */
export function drawChance(random: (bytes: number) => string): number {
  return Number.parseInt(random(6), 16) / 2 ** 48
}

/**
 * Full jitter, so that sites that lost the same network do not return at the same moment. `requested_ms`: the wait that the
 * peer requested, limited to the longest wait.
 */
export function computeBackoff_ms(failures: number, chance: number, requested_ms = 0): number {
  const at_least_ms = Math.max(min_wait_ms, Math.min(max_wait_ms, requested_ms))
  return Math.round(at_least_ms + chance * Math.min(max_wait_ms, min_wait_ms * 2 ** failures))
}
