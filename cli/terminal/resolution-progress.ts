// How far a resolution is, in a line for a person who waits, and when that person has waited enough.
import { formatBar } from './progress-bar.ts'

/** As the engine tells it: `total` is 0 where the end is not known. */
export type ResolutionProgress = { readonly phase: string; readonly done: number; readonly total: number }

/** A phase shorter than this is over before anybody has read how long it takes. */
const min_elapsed_s = 1

/** Makes a line of what was told; the rest of the phase takes as long, part by part, as it took so far. `now_ms`: any steady clock. */
export function createProgressFormatter(now_ms: () => number): (told: ResolutionProgress) => string {
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
    const left = elapsed_s < min_elapsed_s ? '' : `, ${formatDuration((elapsed_s * (total - done)) / done)} left`
    return `${formatBar(done, total)} ${phase}: ${formatAmount(phase, done)} of ${formatAmount(phase, total)}${left}`
  }
}

function formatAmount(phase: string, count: number): string {
  return phase === 'read' ? `${(count / 1_048_576).toFixed(1)} MiB` : String(count)
}

/** `45 s`, `3 min`, `2 h`. */
function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}

/** Whether the time is over, from now on; never without one. Whoever asks does so when something is told. */
export function createDeadline(seconds: number | undefined, now_ms: () => number): () => boolean {
  const until = now_ms() + (seconds ?? Number.POSITIVE_INFINITY) * 1_000
  return () => now_ms() > until
}
