// Follows the tools of a service: the list as it changes, over connections that are opened again after a growing wait.
import { isRefusal, type Refusal } from '../error/errors.ts'
import { computeBackoff_ms, drawChance } from '../network/backoff.ts'
import type { Call } from '../operation/call.ts'
import type { RemoteTool, ToolConnection, ToolServiceAddress, ToolServices } from './tool-service.ts'

/** The whole list, or the reason why it cannot be read at present: the last list may be out of date from then on. */
export type ToolListing = { readonly tools: readonly RemoteTool[] } | { readonly trouble: Refusal }

/** What a call of a worker is: its run follows the tools until it ends. */
export type ToolFollowing = Pick<Call, 'signal' | 'wait' | 'monotonic' | 'random'>

/** Between two readings of a list, however often a service reports changes. */
const min_refresh_ms = 1_000
/** Between two readings of a list whose service reports no changes. */
const poll_ms = 60_000
/** A connection that lasted this long was a good one. */
const settled_ms = 60_000

/**
 * Each list that differs from the one before, and each reason of an interruption. Reads the list at the beginning of every
 * connection, since changes meanwhile were reported to nobody. Ends with the signal, which is that of the call by default.
 */
export async function* followTools(
  services: ToolServices,
  address: ToolServiceAddress,
  following: ToolFollowing,
  signal: AbortSignal = following.signal,
): AsyncGenerator<ToolListing> {
  let failures = 0
  let last: string | undefined
  while (!signal.aborted) {
    const opened_ms = following.monotonic()
    try {
      for await (const tools of readWhileConnected(services, address, following, signal)) {
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
    failures = following.monotonic() - opened_ms >= settled_ms ? 1 : failures + 1
    await following.wait(computeBackoff_ms(failures, drawChance(following.random)), signal)
  }
}

/** The list at each change, until the connection ends. */
async function* readWhileConnected(
  services: ToolServices,
  address: ToolServiceAddress,
  following: ToolFollowing,
  signal: AbortSignal,
): AsyncGenerator<readonly RemoteTool[]> {
  const connection: ToolConnection = await services.connect(address, signal)
  try {
    for (;;) {
      yield await connection.listTools()
      const outcome = await connection.waitForChange(signal)
      if (outcome === 'ended' || signal.aborted) return
      await following.wait(outcome === 'changed' ? min_refresh_ms : poll_ms, signal)
      if (signal.aborted) return
    }
  } finally {
    await connection.close()
  }
}
