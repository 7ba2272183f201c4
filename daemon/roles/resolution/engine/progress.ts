// How far a resolution is, told while it works, so that whoever waits can see it and end it.

/** What is being done; `write` is told by whoever writes results. */
export type Phase = 'read' | 'candidates' | 'compare' | 'train' | 'cluster' | 'link' | 'write'

/**
 * `done` of `total` bytes while reading, records while writing, clustering and comparing (once for each rule where records are many), or
 * pairs where rules of a lens name them; a `total` of 0 is not known.
 */
export type Progress = { readonly phase: Phase; readonly done: number; readonly total: number }

/** Whoever is told may throw, and the work ends with that. */
export type Tell = (progress: Progress) => void

/** Of a phase whose end is known: call it as often as you like, it tells about two hundred times. */
export function portions(tell: Tell, phase: Phase, total: number): (done: number) => void {
  const step = Math.max(1, Math.ceil(total / 200))
  let next = 0
  return (done) => {
    if (done < next) return
    next = done + step
    tell({ phase, done, total })
  }
}

/** For whoever does not wait. */
export const silent: Tell = () => undefined

/** Of a phase that only begins. */
export function began(tell: Tell, phase: Phase): void {
  tell({ phase, done: 0, total: 0 })
}
