// Follows the tools of a service: the list as it changes, over connections that are opened again after a growing wait.
import { isRefusal, type Refusal } from '../error/errors.ts'
import { computeBackoff_ms } from '../network/backoff.ts'
import type { RemoteTool, ToolConnection, ToolServiceAddress, ToolServices } from './tool-service.ts'

/** The whole list, or the reason why it cannot be read at present: the last list may be out of date from then on. */
export type ToolListing = { readonly tools: readonly RemoteTool[] } | { readonly trouble: Refusal }

export type ToolFollowing = {
  readonly signal: AbortSignal
  /** Resolves after the time, or as soon as the signal ends. */
  pause(wait_ms: number, signal: AbortSignal): Promise<void>
  /** Milliseconds that never go back. */
  now(): number
  /** A uniform random number from 0 to 1. */
  chance(): number
}

/** Between two readings of a list, however often a service reports changes. */
const min_refresh_ms = 1_000
/** Between two readings of a list whose service reports no changes. */
const poll_ms = 60_000
/** A connection that lasted this long was a good one. */
const settled_ms = 60_000

/**
 * Each list that differs from the one before, and each reason of an interruption. Reads the list at the beginning of every
 * connection, since changes meanwhile were reported to nobody. Ends with the signal.
 */
export async function* followTools(
  services: ToolServices,
  address: ToolServiceAddress,
  following: ToolFollowing,
): AsyncGenerator<ToolListing> {
  const { signal, pause, now, chance } = following
  let failures = 0
  let last: string | undefined
  while (!signal.aborted) {
    const opened_ms = now()
    try {
      for await (const tools of readWhileConnected(services, address, following)) {
        const text = JSON.stringify(tools)
        if (text !== last) yield { tools }
        last = text
      }
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (signal.aborted) return
      last = undefined
      yield { trouble: error }
    }
    failures = now() - opened_ms >= settled_ms ? 1 : failures + 1
    await pause(computeBackoff_ms(failures, chance()), signal)
  }
}

/** The list at each change, until the connection ends. */
async function* readWhileConnected(
  services: ToolServices,
  address: ToolServiceAddress,
  { signal, pause }: ToolFollowing,
): AsyncGenerator<readonly RemoteTool[]> {
  const connection: ToolConnection = await services.connect(address, signal)
  try {
    for (;;) {
      yield await connection.listTools()
      const outcome = await connection.waitForChange(signal)
      if (outcome === 'ended' || signal.aborted) return
      await pause(outcome === 'changed' ? min_refresh_ms : poll_ms, signal)
      if (signal.aborted) return
    }
  } finally {
    await connection.close()
  }
}
