// Waits for a condition by polling, until it holds or the demo's time limit is reached.
import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailure } from '../program/command.ts'

const poll_interval_ms = 40

/** Throws `CommandFailure` with `expectation` if the signal aborts first. */
export async function waitUntil(
  expectation: string,
  signal: AbortSignal,
  holds: () => Promise<boolean>,
): Promise<void> {
  while (!(await holds())) {
    if (signal.aborted) throw new CommandFailure(1, `timed out while waiting for ${expectation}`)
    await pause(poll_interval_ms)
  }
}
