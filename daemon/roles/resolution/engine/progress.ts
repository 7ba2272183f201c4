// How far a resolution is, told while it works, so that whoever waits can see it and end it.

/** What is being done; `write` is told by whoever writes results. */
export type EnginePhase = 'read' | 'candidates' | 'compare' | 'train' | 'cluster' | 'link' | 'write'

/**
 * `done` of `countRecords` bytes while reading, records while writing, clustering and comparing (once for each rule where records are many), or
 * pairs where rules of a lens name them; a `countRecords` of 0 is not known.
 */
export type EngineProgress = { readonly phase: EnginePhase; readonly done: number; readonly total: number }

/** Whoever is told may throw, and the work ends with that. */
export type EngineProgressListener = (progress: EngineProgress) => void

/** Of a phase whose end is known: call it as often as you like, it tells about two hundred times. */
export function throttleProgress(
  tell: EngineProgressListener,
  phase: EnginePhase,
  total: number,
): (done: number) => void {
  const step = Math.max(1, Math.ceil(total / 200))
  let next = 0
  return (done) => {
    if (done < next) return
    next = done + step
    tell({ phase, done, total })
  }
}

/** For whoever does not wait. */
export const ignoreProgress: EngineProgressListener = () => undefined

/** Of a phase that only begins. */
export function reportPhaseStart(tell: EngineProgressListener, phase: EnginePhase): void {
  tell({ phase, done: 0, total: 0 })
}
