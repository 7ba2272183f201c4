// Formats the time of a call.

let lastInstant = { ms: Number.NaN, iso: '' }

/** Formats an instant. The result is cached: many requests share a millisecond, and each formats it twice. */
export function formatInstant(ms: number): string {
  if (ms !== lastInstant.ms) lastInstant = { ms, iso: new Date(ms).toISOString() }
  return lastInstant.iso
}
