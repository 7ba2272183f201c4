// What becomes of a run: its phases one after the other, as far as it was asked to go, and the ways in which it ends.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { RunPhase, RunState, StoredRun } from './model.ts'

type RunGoal = StoredRun['goal']

/** The states of a run in the order in which it comes to them; the other three are ends. */
const stateSequence: readonly RunState[] = [
  'pending',
  'extracting',
  'extracted',
  'matching',
  'matched',
  'resolving',
  'completed',
]

const statesByPhase: Readonly<Record<RunPhase, { readonly during: RunState; readonly after: RunGoal }>> = {
  extract: { during: 'extracting', after: 'extracted' },
  match: { during: 'matching', after: 'matched' },
  resolve: { during: 'resolving', after: 'completed' },
}

/** Times that a phase is begun: one that takes the whole process down must not do so for ever. */
const max_attempts = 3

/** States of a run that may still be worked on. */
export const open_states: readonly RunState[] = stateSequence.filter((state) => state !== 'completed')

/** States in which it may wait for somebody to ask for more. */
export const waiting_states: readonly RunState[] = ['extracted', 'matched']

export function isEnded({ state }: Pick<StoredRun, 'state'>): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled'
}

/** There is nothing more to do, for what it was asked. */
export function isAtGoal(run: Pick<StoredRun, 'state' | 'goal'>): boolean {
  return isEnded(run) || stateSequence.indexOf(run.state) >= stateSequence.indexOf(run.goal)
}

/** Undefined where there is nothing to do. A phase under way was left by a process that is no more: it is begun again. */
export function nextPhase(run: Pick<StoredRun, 'state' | 'goal'>): RunPhase | undefined {
  if (isAtGoal(run)) return undefined
  if (run.state === 'pending' || run.state === 'extracting') return 'extract'
  return run.state === 'extracted' || run.state === 'matching' ? 'match' : 'resolve'
}

export function beginPhase(run: StoredRun, phase: RunPhase, at: string, now_ms: number): StoredRun {
  if (run.attempts >= max_attempts) {
    const reason = `the service ended ${max_attempts} times while it was to ${phase}`
    return markRunFailed(run, { code: 'ended', reason }, at, now_ms)
  }
  const state = statesByPhase[phase].during
  return { ...run, state, attempts: run.attempts + 1, started_at: run.started_at ?? at, updated_at: at }
}

export type RunPhaseResult = Pick<StoredRun, 'counts'> &
  Partial<Pick<StoredRun, 'sources' | 'route' | 'scale' | 'weights'>>

/** `retention_ms`: how long files of a completed run are kept. */
export function completePhase(
  run: StoredRun,
  phase: RunPhase,
  found: RunPhaseResult,
  at: string,
  files_until_ts: number,
): StoredRun {
  const state = statesByPhase[phase].after
  const counts = { ...run.counts, ...found.counts }
  const next: StoredRun = { ...run, ...found, counts, state, attempts: 0, updated_at: at }
  const owes = isAtGoal(next) ? 0 : 1
  return state === 'completed' ? { ...next, owes, ended_at: at, files_until_ts } : { ...next, owes }
}

export function markRunFailed(
  run: StoredRun,
  failure: NonNullable<StoredRun['failure']>,
  at: string,
  now_ms: number,
): StoredRun {
  return { ...endRun(run, at, now_ms), state: 'failed', failure }
}

/** The same run where it is cancelled already. */
export function cancelRun(run: StoredRun, at: string, now_ms: number): StoredRun | Refusal {
  if (run.state === 'cancelled') return run
  if (isEnded(run)) return refuse('wrong_state', `the run is ${run.state}`)
  return { ...endRun(run, at, now_ms), state: 'cancelled' }
}

const day_ms = 86_400_000

/** The same run, unless nobody has asked for more for so long. Runs of exchanges end with these. */
export function expireRun(run: StoredRun, wait_days: number, at: string, now_ms: number): StoredRun {
  const isWaiting = waiting_states.includes(run.state) && run.owes === 0 && run.exchange_id === undefined
  if (!isWaiting || now_ms - Date.parse(run.updated_at) < wait_days * day_ms) return run
  const reason = `it was ${run.state}, and nobody asked for more within ${wait_days} days`
  return markRunFailed(run, { code: 'expired', reason }, at, now_ms)
}

function endRun(run: StoredRun, at: string, now_ms: number): StoredRun {
  return { ...run, owes: 0, attempts: 0, updated_at: at, ended_at: at, files_until_ts: now_ms }
}

/** Asks a run to go as far as this; the same run where that is asked already. */
export function extendGoal(
  run: StoredRun,
  goal: RunGoal,
  threshold: number | undefined,
  at: string,
): StoredRun | Refusal {
  if (run.state === 'failed' || run.state === 'cancelled') return refuse('wrong_state', `the run is ${run.state}`)
  const isOther = threshold !== undefined && threshold !== run.threshold
  if (isOther && stateSequence.indexOf(run.state) >= stateSequence.indexOf('resolving')) {
    return refuse('wrong_state', `the run is ${run.state} with another threshold`)
  }
  // What it is being matched by is settled, and whether its scores will be bits is not known yet.
  if (isOther && run.state === 'matching') {
    return refuse(
      'wrong_state',
      'the run is matching with another threshold: a new one can be said once it has matched',
    )
  }
  if (isOther && run.scale === 'likeness') return refuse('invalid', likenessThresholdMessage, [thresholdFault])
  const furthest = stateSequence.indexOf(goal) > stateSequence.indexOf(run.goal) ? goal : run.goal
  if (furthest === run.goal && !isOther) return run
  const next = { ...run, goal: furthest, ...(isOther ? { threshold } : {}), updated_at: at }
  return { ...next, owes: isAtGoal(next) ? 0 : 1 }
}

const likenessThresholdMessage =
  'the records were matched by how alike their texts are, where the line is found from the data: say a threshold before they are matched'
const thresholdFault = { path: 'threshold', message: 'must be left out for these records' }
