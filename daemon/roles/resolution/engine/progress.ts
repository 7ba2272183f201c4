// Progress of a resolution, reported during the work, so that a caller can follow and cancel it.

/** The current phase; `write` is reported by the code that writes results. */
export type EnginePhase = 'read' | 'candidates' | 'compare' | 'variants' | 'train' | 'cluster' | 'link' | 'write'

/**
 * Progress of a phase. `done` and `total` count bytes while reading; records while writing, clustering and comparing
 * (once per rule for many records); pairs for rules of a lens and variants. A `total` of 0 is unknown.
 */
export type EngineProgress = { readonly phase: EnginePhase; readonly done: number; readonly total: number }

/** A listener may throw: the exception ends the work. */
export type EngineProgressListener = (progress: EngineProgress) => void

/** Throttles the reports of a phase of known length to about two hundred, for any number of calls. */
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

/** A listener for callers that do not follow progress. */
export const ignoreProgress: EngineProgressListener = () => undefined

/** Reports the start of a phase of unknown length. */
export function reportPhaseStart(report: EngineProgressListener, phase: EnginePhase): void {
  report({ phase, done: 0, total: 0 })
}
