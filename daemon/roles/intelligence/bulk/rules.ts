// Pure steps of a bulk disposition. The history of a signal decides whether the signal was changed.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { SignalStatus, StoredSignal } from '../signal/model.ts'
import { transitions } from '../signal/rules.ts'
import type { BulkItem, StoredBulk } from './model.ts'

export type BulkItemOutcome = Pick<BulkItem, 'outcome' | 'reason'>

/** The next undecided signals, in the order of selection. */
export function listUndecided({ items }: StoredBulk, max_count: number): string[] {
  return items.flatMap(({ signal_id, outcome }) => (outcome === undefined ? [signal_id] : [])).slice(0, max_count)
}

/**
 * Records outcomes, and ends the bulk disposition when no signal is left. Of two outcomes for one signal `done` wins:
 * another process may have refused a change that became possible a moment later.
 */
export function applyOutcomes(
  current: StoredBulk,
  outcomes: ReadonlyMap<string, BulkItemOutcome>,
  at: string,
): StoredBulk {
  const items = current.items.map((item) => {
    const newOutcome = outcomes.get(item.signal_id)
    const counts =
      newOutcome && (item.outcome === undefined || (newOutcome.outcome === 'done' && item.outcome !== 'done'))
    return counts ? { signal_id: item.signal_id, ...newOutcome } : item
  })
  const next = { ...current, items, updated_at: at }
  if (current.owes === 0 || items.some(({ outcome }) => outcome === undefined)) return next
  return { ...next, state: current.state === 'cancelling' ? 'cancelled' : 'finished', owes: 0, finished_at: at }
}

/** Cancels a bulk disposition; a repeat changes nothing. Refuses `wrong_state` when it is finished. */
export function cancelBulk(current: StoredBulk, by: string, at: string): StoredBulk | Refusal {
  if (current.state === 'finished')
    return refuse('wrong_state', 'the bulk disposition is finished and cannot be cancelled')
  if (current.state !== 'running') return current
  return { ...current, state: 'cancelling', cancelled_by: by, updated_at: at }
}

/** Whether this bulk disposition changed the signal, according to the history of the signal. */
export function isMovedBy({ metadata }: Pick<StoredSignal, 'metadata'>, bulk_id: string): boolean {
  return metadata.status_history.some(({ bulk }) => bulk === bulk_id)
}

/** Number of signals whose status may change to `to`. */
export function countAllowed(counts: ReadonlyMap<SignalStatus, number>, to: SignalStatus): number {
  return [...counts].reduce((sum, [from, count]) => sum + (transitions[from].includes(to) ? count : 0), 0)
}
