// Watches the tools that one caller may use: for as long as its credential is accepted, and at most once a second.
import type { SurfaceRequest } from '../../../daemon/kernel/api/surface.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { ToolCatalogue } from './tool-catalogue.ts'

/** Between two looks at the list of a caller, however often the catalogue changes. */
const min_interval_ms = 1_000

/** Between two wakes of a quiet watch: a token may gain or lose permissions without any announcement. */
export const watch_interval_ms = 2_000

export type ToolChanges = {
  readonly catalogue: ToolCatalogue
  /** Yields at once, after each change of the catalogue, and at least every `watch_interval_ms`. */
  readonly changes: (signal: AbortSignal) => AsyncIterable<void>
  /** Milliseconds that never go back. */
  readonly now: () => number
}

/** The state of the list that the client has, as far as it is known: a session remembers it between two streams. */
export type ListedState = { listed: string | undefined }

/** Yields when the caller's list differs from the one it has. Ends with the signal, and with the caller's admission. */
export async function* watchTools(
  { catalogue, changes, now }: ToolChanges,
  { readmit }: Pick<SurfaceRequest, 'readmit'>,
  state: ListedState,
  signal: AbortSignal,
): AsyncGenerator<void> {
  let looked_ms = Number.NEGATIVE_INFINITY
  for await (const _ of changes(signal)) {
    if (now() - looked_ms < min_interval_ms) continue
    looked_ms = now()
    const caller = await readmit()
    if (isRefusal(caller)) return
    const current = catalogue.stateFor(caller)
    const isChanged = state.listed !== undefined && state.listed !== current
    state.listed = current
    if (isChanged) yield
  }
}
