// Writes that wait for the end of this turn of the event loop, so that those of all connections go out one after the other.

/** A corked socket, or what is held like one. */
export type HeldWrites = { uncork(): void }

let held: HeldWrites[] = []

/**
 * Uncorks at the end of this turn. A write wakes the process that waits for it. One that has little to do sleeps again before
 * the next request is parsed, and each write would wake it: that took a third of the processor time of a forwarded request.
 */
export function uncorkAtEndOfTurn(writes: HeldWrites): void {
  if (held.length === 0) setImmediate(uncorkAll)
  held.push(writes)
}

function uncorkAll(): void {
  const all = held
  held = []
  for (const writes of all) writes.uncork()
}
