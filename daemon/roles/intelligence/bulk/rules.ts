// Pure steps of a bulk disposition. The history of a signal decides whether the signal was changed.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { completeStep, endJob, leaveToSite, releaseJob } from '../../../kernel/job/rules.ts'
import type { SignalStatus, StoredSignal } from '../signal/model.ts'
import { transitions } from '../signal/rules.ts'
import { adoptEarlierBulk, type BulkItem, type StoredBulk } from './model.ts'

export type BulkItemOutcome = Pick<BulkItem, 'outcome' | 'reason'>
type BulkFailure = NonNullable<StoredBulk['failure']>

/** The next undecided signals, in the order of selection. */
export function listUndecided({ items }: StoredBulk, max_count: number): string[] {
  return items.flatMap(({ signal_id, outcome }) => (outcome === undefined ? [signal_id] : [])).slice(0, max_count)
}

/** Records the outcomes of a batch. The job then waits for its turn among others, or is over. */
export function completeBatch(
  current: StoredBulk,
  outcomes: ReadonlyMap<string, BulkItemOutcome>,
  at: string,
  now_ms: number,
): StoredBulk {
  const items = current.items.map((item) => (item.outcome ? item : { ...item, ...outcomes.get(item.signal_id) }))
  if (items.some(({ outcome }) => outcome === undefined))
    return releaseJob(completeStep({ ...current, items, updated_at: at }), now_ms)
  return endJob(current, 'completed', { items, state: 'finished', finished_at: at, updated_at: at })
}

/** Cancels a bulk disposition; a repeat changes nothing. Refuses `wrong_state` when it is finished. */
export function cancelBulk(stored: StoredBulk, by: string, at: string, now_ms: number): StoredBulk | Refusal {
  if (stored.state === 'finished')
    return refuse('wrong_state', 'the bulk disposition is finished and cannot be cancelled')
  if (stored.state !== 'running') return stored
  const current = adoptEarlierBulk(stored) as StoredBulk
  return leaveToSite<StoredBulk>({ ...current, state: 'cancelling', cancelled_by: by, updated_at: at }, now_ms)
}

/** Ends a bulk disposition that may not go on; the site still reports what was done. */
export function failBulk(current: StoredBulk, failure: BulkFailure, at: string, now_ms: number): StoredBulk {
  if (current.job.principal === undefined) return endUnread({ failure, ...current }, at)
  return leaveToSite<StoredBulk>({ ...current, state: 'cancelling', failure, updated_at: at }, now_ms)
}

const earlierVersionFailure: BulkFailure = {
  code: 'ended',
  reason:
    'an earlier version of the service began this bulk disposition, without the rights of its principal: start it again for the signals that are left',
}

/** Ends a bulk disposition that was left to the site. `moved`: undecided signals that it has changed. */
export function endBulk(current: StoredBulk, moved: ReadonlySet<string>, at: string): StoredBulk {
  const failure = current.failure ?? (current.state === 'running' ? earlierVersionFailure : undefined)
  return endWith({ ...current, ...(failure ? { failure } : {}) }, at, (signal_id) => ({
    outcome: moved.has(signal_id) ? 'done' : 'cancelled',
  }))
}

const unreadReason = 'the service failed before it could read whether the signal was changed: see its history'

function endUnread(current: StoredBulk, at: string): StoredBulk {
  return endWith(current, at, () => ({ outcome: 'cancelled', reason: unreadReason }))
}

function endWith(current: StoredBulk, at: string, outcomeOf: (signal_id: string) => BulkItemOutcome): StoredBulk {
  const items = current.items.map((item) => (item.outcome ? item : { ...item, ...outcomeOf(item.signal_id) }))
  const { failure } = current
  const fields = { items, state: 'cancelled' as const, finished_at: at, updated_at: at }
  return failure ? endJob(current, 'failed', { ...fields, failure }, failure) : endJob(current, 'cancelled', fields)
}

/** Whether this bulk disposition changed the signal, according to the history of the signal. */
export function isMovedBy({ metadata }: Pick<StoredSignal, 'metadata'>, bulk_id: string): boolean {
  return metadata.status_history.some(({ bulk }) => bulk === bulk_id)
}

/** Number of signals whose status may change to `to`. */
export function countAllowed(counts: ReadonlyMap<SignalStatus, number>, to: SignalStatus): number {
  return [...counts].reduce((sum, [from, count]) => sum + (transitions[from].includes(to) ? count : 0), 0)
}
