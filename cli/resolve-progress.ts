// How far a resolution is, in a line for a person who waits, and when that person has waited enough.
import { bar } from './progress-bar.ts'

/** As the engine tells it: `total` is 0 where the end is not known. */
export type Told = { readonly phase: string; readonly done: number; readonly total: number }

/** A phase shorter than this is over before anybody has read how long it takes. */
const least_s = 1

/** Makes a line of what was told; the rest of the phase takes as long, part by part, as it took so far. `now_ms`: any steady clock. */
export function progressTeller(now_ms: () => number): (told: Told) => string {
  let phase = ''
  let since = 0
  return (told) => {
    if (told.phase !== phase || told.done === 0) {
      phase = told.phase
      since = now_ms()
    }
    const { done, total } = told
    if (total === 0) return phase
    const elapsed_s = (now_ms() - since) / 1_000
    const left = elapsed_s < least_s ? '' : `, ${lasting((elapsed_s * (total - done)) / done)} left`
    return `${bar(done, total)} ${phase}: ${amount(phase, done)} of ${amount(phase, total)}${left}`
  }
}

function amount(phase: string, count: number): string {
  return phase === 'read' ? `${(count / 1_048_576).toFixed(1)} MiB` : String(count)
}

/** `45 s`, `3 min`, `2 h`. */
function lasting(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}

/** Whether the time is over, from now on; never without one. Whoever asks does so when something is told. */
export function lateAfter(seconds: number | undefined, now_ms: () => number): () => boolean {
  const until = now_ms() + (seconds ?? Number.POSITIVE_INFINITY) * 1_000
  return () => now_ms() > until
}
