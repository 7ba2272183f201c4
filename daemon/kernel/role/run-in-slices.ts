// Runs a long computation of pure code on the event loop, in slices, so that it delays no other work.
import type { Call } from '../operation/call.ts'

/** Time after which a computation lets other work continue; its steps should take less. */
const slice_ms = 5

/**
 * Runs the computation to its end and returns its result. Each `yield` of it is a point at which other work may continue.
 * Throws the reason of the signal once that is aborted.
 */
export async function runInSlices<T>(
  { monotonic, pause, signal }: Pick<Call, 'monotonic' | 'pause' | 'signal'>,
  computation: Iterator<undefined, T>,
): Promise<T> {
  let resumed = monotonic()
  for (;;) {
    const { done, value } = computation.next()
    if (done) return value
    if (monotonic() - resumed < slice_ms) continue
    await pause()
    signal.throwIfAborted()
    resumed = monotonic()
  }
}
