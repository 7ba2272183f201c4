// Runs a connection again after each failure until the signal aborts, with an increasing pause.
import { setTimeout as sleep } from 'node:timers/promises'

const min_pause_ms = 250
const max_pause_ms = 30_000

/** The state before the first attempt. */
export const initialTrouble = 'not reached yet'

export type ReconnectOptions = {
  readonly signal: AbortSignal
  /** A uniform random number from 0 to 1. */
  readonly chance: () => number
  /** Called on each change: the reason for a failure, or undefined once connected. */
  readonly onChange: (trouble: string | undefined) => void
}

/** `run` calls `onConnected` once it is connected: later pauses are short again. Never rejects. */
export async function keepConnected(
  { signal, chance, onChange }: ReconnectOptions,
  run: (onConnected: () => void) => Promise<void>,
) {
  let failures = 0
  let trouble: string | undefined = initialTrouble
  const report = (now: string | undefined) => {
    if (now !== trouble) onChange(now)
    trouble = now
  }
  const onConnected = () => {
    failures = 0
    report(undefined)
  }
  while (!signal.aborted) {
    try {
      await run(onConnected)
    } catch (error) {
      if (signal.aborted) return
      failures += 1
      report(errorText(error))
    }
    await sleep(reconnectPause(failures, chance()), undefined, { signal }).catch(() => undefined)
  }
}

/** Full jitter with a minimum: a hub that ends each stream without an error must not be polled without a pause. */
export function reconnectPause(failures: number, chance: number): number {
  return Math.round(min_pause_ms + chance * Math.min(max_pause_ms, min_pause_ms * 2 ** failures))
}

/** The code where an error has no message: a host of several addresses that all refuse yields such an error. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return error.message || ((error as NodeJS.ErrnoException).code ?? error.name)
}
