// Progress line and time limit of a resolution.
import { formatBar } from './progress-bar.ts'

/** Progress as the engine reports it; `total` is 0 if it is unknown. */
export type ResolutionProgress = { readonly phase: string; readonly done: number; readonly total: number }

/** A phase gets an estimate only after this time: shorter ones end before a person reads it. */
const min_elapsed_s = 1

/** Formats progress as a line, with the time left at the rate of the phase so far. `now_ms`: any monotonic clock. */
export function createProgressFormatter(now_ms: () => number): (progress: ResolutionProgress) => string {
  let phase = ''
  let phaseStart_ms = 0
  return (progress) => {
    if (progress.phase !== phase || progress.done === 0) {
      phase = progress.phase
      phaseStart_ms = now_ms()
    }
    const { done, total } = progress
    if (total === 0) return phase
    const elapsed_s = (now_ms() - phaseStart_ms) / 1_000
    const remaining = elapsed_s < min_elapsed_s ? '' : `, ${formatDuration((elapsed_s * (total - done)) / done)} left`
    return `${formatBar(done, total)} ${phase}: ${formatAmount(phase, done)} of ${formatAmount(phase, total)}${remaining}`
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

/** Returns a function that tests whether the time limit has passed; without a limit it never has. */
export function createDeadline(seconds: number | undefined, now_ms: () => number): () => boolean {
  const end_ms = now_ms() + (seconds ?? Number.POSITIVE_INFINITY) * 1_000
  return () => now_ms() > end_ms
}
