// Runs a long computation of pure code on the event loop, in slices, so that it delays no other work.
import type { Call } from '../operation/call.ts'

/** Time after which a computation lets other work continue; its steps should take less. */
const slice_ms = 5

type SlicedLoop = Pick<Call, 'monotonic' | 'pause'> & Partial<Pick<Call, 'signal'>>

/** Runs a computation to its end and resolves with its result. Each `yield` of it is a point at which other work may continue. */
export type SliceRunner = <T>(computation: Iterator<undefined, T>) => Promise<T>

/**
 * A runner for one computation after the other. What its caller does between them counts as well: the time since the last
 * pause decides. Throws the reason of the signal once that is aborted.
 */
export function sliceRunner({ monotonic, pause, signal }: SlicedLoop): SliceRunner {
  let resumed = monotonic()
  return async (computation) => {
    for (;;) {
      if (monotonic() - resumed >= slice_ms) {
        await pause()
        signal?.throwIfAborted()
        resumed = monotonic()
      }
      const { done, value } = computation.next()
      if (done) return value
    }
  }
}

/** Runs one computation. Throws the reason of the signal once that is aborted. */
export function runInSlices<T>(loop: SlicedLoop, computation: Iterator<undefined, T>): Promise<T> {
  return sliceRunner(loop)(computation)
}
