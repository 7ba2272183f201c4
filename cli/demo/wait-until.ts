// Waits for a condition by looking again, until it holds or the demo's time is up.
import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailure } from '../program/command.ts'

const poll_interval_ms = 40

/** Throws `Failure` naming what was waited for when the signal aborts first. */
export async function waitUntil(what: string, signal: AbortSignal, holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    if (signal.aborted) throw new CommandFailure(1, `waited in vain for ${what}`)
    await pause(poll_interval_ms)
  }
}
