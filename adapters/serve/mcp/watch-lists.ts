// Watches the tools and resources that one caller may use: for as long as its credential is accepted, and at most once a second.
import type { SurfaceRequest } from '../../../daemon/kernel/api/surface.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { Caller } from '../../../daemon/kernel/identity/identity.ts'
import type { ResourceCatalogue } from './resource-catalogue.ts'
import type { ToolCatalogue } from './tool-catalogue.ts'

/** Between two looks at the lists of a caller, however often a catalogue changes. */
const min_interval_ms = 1_000

/** Between two wakes of a quiet watch: a token may gain or lose permissions without any announcement. */
export const watch_interval_ms = 2_000

export type ListChanges = {
  readonly catalogue: ToolCatalogue
  readonly resources: ResourceCatalogue
  /** Yields at once, after each change of a catalogue, and at least every `watch_interval_ms`. */
  readonly changes: (signal: AbortSignal) => AsyncIterable<void>
  /** Milliseconds that never go back. */
  readonly now: () => number
}

/** The state of the lists that the client has, as far as it is known: a session remembers it between two streams. */
export type ListedState = { listed: string | undefined; listed_resources: string | undefined }

export type ListName = 'tools' | 'resources'

export function readListedState({ catalogue, resources }: ListChanges, caller: Caller): ListedState {
  return { listed: catalogue.stateFor(caller), listed_resources: resources.stateFor(caller) }
}

/** Yields each list of the caller that differs from the one it has. Ends with the signal, and with the caller's admission. */
export async function* watchLists(
  context: ListChanges,
  { readmit }: Pick<SurfaceRequest, 'readmit'>,
  state: ListedState,
  signal: AbortSignal,
): AsyncGenerator<ListName> {
  let looked_ms = Number.NEGATIVE_INFINITY
  for await (const _ of context.changes(signal)) {
    if (context.now() - looked_ms < min_interval_ms) continue
    looked_ms = context.now()
    const caller = await readmit()
    if (isRefusal(caller)) return
    const { listed, listed_resources } = state
    const current = readListedState(context, caller)
    // Both at once: the client may read a list between two notifications.
    Object.assign(state, current)
    if (listed !== undefined && listed !== current.listed) yield 'tools'
    if (listed_resources !== undefined && listed_resources !== current.listed_resources) yield 'resources'
  }
}
