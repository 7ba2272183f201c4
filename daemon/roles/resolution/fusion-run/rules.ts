// Pure rules of a run: its phases in order up to its goal, and its ends.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { StoredPrincipal } from '../../../kernel/identity/delegation.ts'
import { completeStep, endJob, isJobIdle, isJobOver, newJob, waitForEvent, wakeJob } from '../../../kernel/job/rules.ts'
import {
  adoptEarlierRun,
  earlier_failure,
  type RunPhase,
  type RunState,
  type StoredRun,
  waiting_states,
} from './model.ts'

export type RunGoal = StoredRun['goal']

/** The states of a run in order; `failed` and `cancelled` can follow any state except the last. */
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

/** States of a run that has not ended. */
export const open_states: readonly RunState[] = stateSequence.filter((state) => state !== 'completed')

export function isEnded({ state }: Pick<StoredRun, 'state'>): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled'
}

/** Whether the run has reached its goal or has ended. */
export function isAtGoal(run: Pick<StoredRun, 'state' | 'goal'>): boolean {
  return isEnded(run) || stateSequence.indexOf(run.state) >= stateSequence.indexOf(run.goal)
}

/** Returns the next phase; undefined at the goal. A phase that an ended process left in progress starts again. */
export function nextPhase(run: Pick<StoredRun, 'state' | 'goal'>): RunPhase | undefined {
  if (isAtGoal(run)) return undefined
  if (run.state === 'pending' || run.state === 'extracting') return 'extract'
  return run.state === 'extracted' || run.state === 'matching' ? 'match' : 'resolve'
}

export function beginPhase(run: StoredRun, phase: RunPhase, at: string): StoredRun {
  return { ...run, state: statesByPhase[phase].during, started_at: run.started_at ?? at, updated_at: at }
}

export type RunPhaseResult = Pick<StoredRun, 'counts'> &
  Partial<Pick<StoredRun, 'sources' | 'route' | 'scale' | 'weights' | 'quality' | 'left_out' | 'held'>>

/**
 * Completes a phase; one that was held before it changed the registry leaves the run matched, and is repeated if the result was
 * accepted meanwhile. `files_until_ts`: time at which files of a completed run are deleted, in epoch milliseconds.
 */
export function completePhase(
  run: StoredRun,
  phase: RunPhase,
  result: RunPhaseResult,
  at: string,
  files_until_ts: number,
): StoredRun {
  const counts = { ...run.counts, ...result.counts }
  const { left_out: added = [], held, ...results } = result
  const state = held ? 'matched' : statesByPhase[phase].after
  const stop = held && !run.accept_poor ? { held, goal: 'matched' as const } : {}
  const left_out = [...(run.left_out ?? []).filter(({ what }) => what !== 'matches'), ...added]
  const listed = { counts, left_out: left_out.length > 0 ? left_out : undefined }
  const fields = { ...results, ...listed, ...stop, state, updated_at: at }
  if (state === 'completed') return endJob(run, 'completed', { ...fields, ended_at: at, files_until_ts })
  const next: StoredRun = { ...run, ...fields }
  return isAtGoal(next) ? waitForEvent(completeStep(next), Date.parse(at)) : completeStep(next)
}

export function markRunFailed(
  run: StoredRun,
  failure: NonNullable<StoredRun['failure']>,
  at: string,
  now_ms: number,
): StoredRun {
  return endRun(run, { state: 'failed', failure }, at, now_ms)
}

/** Ends an open run; its files are deleted at once. The job of an open run of an earlier version may be over. */
function endRun(
  run: StoredRun,
  { state, failure }: { readonly state: 'failed' | 'cancelled'; readonly failure?: StoredRun['failure'] },
  at: string,
  now_ms: number,
): StoredRun {
  if (isEnded(run) && isJobOver(run)) return run
  const fields = { state, updated_at: at, ended_at: at, files_until_ts: now_ms, ...(failure ? { failure } : {}) }
  const open = isJobOver(run) ? { ...run, ...newJob(undefined, undefined) } : run
  return endJob(open, state, fields, failure)
}

/** Whether an earlier version began this open run, which has no principal to act for. */
function isOfNobody(run: StoredRun): boolean {
  return isJobOver(run) && !isEnded(run)
}

/** Ends an open run of an earlier version that has nobody to act for. Adopts any other run as it is. */
export function settleEarlierRun(run: StoredRun, at: string, now_ms: number): StoredRun {
  const adopted = adoptEarlierRun(run) as StoredRun
  return isOfNobody(adopted) ? markRunFailed(adopted, earlier_failure, at, now_ms) : adopted
}

/** Cancels a run; returns the same value if it is cancelled already. */
export function cancelRun(run: StoredRun, at: string, now_ms: number): StoredRun | Refusal {
  if (run.state === 'cancelled') return run
  if (isEnded(run)) return refuse('wrong_state', `the run is already ${run.state}`)
  return endRun(run, { state: 'cancelled' }, at, now_ms)
}

const day_ms = 86_400_000

/**
 * Fails a run that has waited `wait_days` for a request; returns any other run unchanged. A run of an exchange ends
 * with the exchange.
 */
export function expireRun(run: StoredRun, wait_days: number, at: string, now_ms: number): StoredRun {
  const isWaiting = waiting_states.includes(run.state) && isJobIdle(run) && run.exchange_id === undefined
  if (!isWaiting || now_ms - Date.parse(run.updated_at) < wait_days * day_ms) return run
  const reason = `the run was ${run.state}, and its next phase was not requested within ${wait_days} days`
  return markRunFailed(run, { code: 'expired', reason }, at, now_ms)
}

/** What is requested of a run: its further goal, another threshold, and that a poor result is taken as it is. */
export type PhaseRequest = Pick<StoredRun, 'goal' | 'threshold' | 'accept_poor'>

/**
 * Extends the goal of a run, whose next phases act for the principal that requests them. Returns the same value if the
 * goal is as far already.
 */
export function extendGoal(
  run: StoredRun,
  { goal, threshold, accept_poor }: PhaseRequest,
  at: string,
  principal?: StoredPrincipal,
): StoredRun | Refusal {
  if (run.state === 'failed' || run.state === 'cancelled')
    return refuse('wrong_state', `the run is ${run.state}: start a new one`)
  if (isOfNobody(run)) return refuse('wrong_state', earlier_failure.reason)
  const hasNewThreshold = threshold !== undefined && threshold !== run.threshold
  if (hasNewThreshold && stateSequence.indexOf(run.state) >= stateSequence.indexOf('resolving')) {
    return refuse('wrong_state', `the run is ${run.state} with another threshold: start a new one`)
  }
  // The threshold of this phase is fixed, and the scale of its scores is unknown as yet.
  if (hasNewThreshold && run.state === 'matching') {
    return refuse('wrong_state', 'the run is matching with another threshold: retry once it has matched')
  }
  if (hasNewThreshold && run.scale === 'likeness') return refuse('invalid', likenessThresholdMessage, [thresholdFault])
  const isAcceptance = accept_poor === true && !run.accept_poor && !isEnded(run)
  const furthest = stateSequence.indexOf(goal) > stateSequence.indexOf(run.goal) ? goal : run.goal
  if (furthest === run.goal && !hasNewThreshold && !isAcceptance) return run
  if (run.exchange_id !== undefined) return refuse('wrong_state', exchangeRunMessage)
  if (run.held && !hasNewThreshold && !isAcceptance)
    return refuse('wrong_state', `${heldMessages[run.held]}; ${held_remedy}`)
  const changes = { ...(hasNewThreshold ? { threshold } : {}), ...(isAcceptance ? { accept_poor } : {}) }
  const next: StoredRun = { ...run, goal: furthest, ...changes, held: undefined, updated_at: at }
  return isAtGoal(next) ? next : wakeJob(next, Date.parse(at), principal)
}

const exchangeRunMessage =
  'the run belongs to an exchange, whose terms both sites agreed on: propose a new exchange for another threshold'
const heldMessages: Readonly<Record<NonNullable<StoredRun['held']>, string>> = {
  poor: 'the run is held: the estimated quality of its result is poor, and the registry is unchanged',
  no_links: 'the run is held: it links no records, would split entities, and the registry is unchanged',
}
const held_remedy = 'resolve it with accept_poor to take the result as it is, or with another threshold, or cancel it'
const likenessThresholdMessage =
  'the records were matched by text similarity, whose threshold is derived from the data: set a threshold before matching'
const thresholdFault = { path: 'threshold', message: 'must be absent for these records' }
