// Follows the tools of a service: the list as it changes, over connections that are opened again after a growing wait.
import { isRefusal, type Refusal } from '../error/errors.ts'
import { computeBackoff_ms, drawChance } from '../network/backoff.ts'
import type { Call } from '../operation/call.ts'
import type { RemoteResource } from './remote-resource.ts'
import type { RemoteTool, ToolConnection, ToolServiceAddress, ToolServices } from './tool-service.ts'

/**
 * `resources`: absent where they are not followed; the reason where their list cannot be read, which does not concern the
 * tools.
 */
export type ServiceLists = {
  readonly tools: readonly RemoteTool[]
  readonly resources?: readonly RemoteResource[] | Refusal
}

/** The whole lists, or the reason why they cannot be read at present: the last ones may be out of date from then on. */
export type ToolListing = ServiceLists | { readonly trouble: Refusal }

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
 * `hasResources`: whether it follows resources too.
 */
export async function* followTools(
  services: ToolServices,
  address: ToolServiceAddress,
  following: ToolFollowing,
  signal: AbortSignal = following.signal,
  hasResources = false,
): AsyncGenerator<ToolListing> {
  let failures = 0
  let last: string | undefined
  while (!signal.aborted) {
    const opened_ms = following.monotonic()
    try {
      const connection = await services.connect(address, signal)
      for await (const lists of readWhileConnected(connection, following, signal, hasResources)) {
        const text = JSON.stringify(lists, showRefusal)
        if (text !== last) yield lists
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

/** As JSON, a refusal has no message. */
const showRefusal = (_: string, value: unknown) => (isRefusal(value) ? value.message : value)

/** The lists at each change, until the connection ends. */
async function* readWhileConnected(
  connection: ToolConnection,
  following: ToolFollowing,
  signal: AbortSignal,
  hasResources: boolean,
): AsyncGenerator<ServiceLists> {
  try {
    for (;;) {
      const tools = await connection.listTools()
      yield hasResources ? { tools, resources: await listResources(connection) } : { tools }
      const outcome = await waitForChange(connection, following, signal)
      if (outcome === 'ended' || signal.aborted) return
      await following.wait(outcome === 'changed' ? min_refresh_ms : poll_ms, signal)
      if (signal.aborted) return
    }
  } finally {
    await connection.close()
  }
}

/** Whatever a service lists as its resources, its tools are followed. */
export async function listResources(connection: ToolConnection): Promise<readonly RemoteResource[] | Refusal> {
  try {
    return await connection.listResources()
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

type Outcome = Awaited<ReturnType<ToolConnection['waitForChange']>>

/** Where one list reports no changes, both are read as often as it must be. */
async function waitForChange(
  connection: ToolConnection,
  { wait }: ToolFollowing,
  signal: AbortSignal,
): Promise<Outcome> {
  if (connection.reportsAll) return await connection.waitForChange(signal)
  const ending = new AbortController()
  const either = AbortSignal.any([signal, ending.signal])
  try {
    const polled = wait(poll_ms, either).then((): Outcome => (signal.aborted ? 'ended' : 'changed'))
    const reported = connection.waitForChange(either).then((outcome) => (outcome === 'unsupported' ? polled : outcome))
    return await Promise.race([reported, polled])
  } finally {
    ending.abort()
  }
}
