// Waits for a condition by looking again, until it holds or the demo's time is up.
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../command.ts'

const look_every_ms = 40

/** Throws `Failure` naming what was waited for when the signal aborts first. */
export async function until(what: string, signal: AbortSignal, holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    if (signal.aborted) throw new Failure(1, `waited in vain for ${what}`)
    await pause(look_every_ms)
  }
}
