// Progress of a resolution, reported while it works, so that a caller can follow and cancel it.

/** The current phase; `write` is reported by the code that writes results. */
export type EnginePhase = 'read' | 'candidates' | 'compare' | 'train' | 'cluster' | 'link' | 'write'

/**
 * `done` of `total`: bytes while reading; records while writing, clustering and comparing (once per rule where records
 * are many); pairs where rules of a lens name them. A `total` of 0 is unknown.
 */
export type EngineProgress = { readonly phase: EnginePhase; readonly done: number; readonly total: number }

/** A listener may throw: the exception ends the work. */
export type EngineProgressListener = (progress: EngineProgress) => void

/** For a phase of known length: the result may be called any number of times and reports about two hundred times. */
export function throttleProgress(
  report: EngineProgressListener,
  phase: EnginePhase,
  total: number,
): (done: number) => void {
  const step = Math.max(1, Math.ceil(total / 200))
  let next = 0
  return (done) => {
    if (done < next) return
    next = done + step
    report({ phase, done, total })
  }
}

/** For callers that do not follow progress. */
export const ignoreProgress: EngineProgressListener = () => undefined

/** Reports the start of a phase of unknown length. */
export function reportPhaseStart(report: EngineProgressListener, phase: EnginePhase): void {
  report({ phase, done: 0, total: 0 })
}
