// What may become of a bulk disposition: pure steps. What the history of a signal says was done is done.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { SignalStatus, StoredSignal } from '../signal/model.ts'
import { transitions } from '../signal/rules.ts'
import type { BulkItem, StoredBulk } from './model.ts'

export type BulkItemOutcome = Pick<BulkItem, 'outcome' | 'reason'>

/** The next to be decided, in the order in which they were chosen. */
export function listUndecided({ items }: StoredBulk, max_count: number): string[] {
  return items.flatMap(({ signal_id, outcome }) => (outcome === undefined ? [signal_id] : [])).slice(0, max_count)
}

/**
 * Takes in what became of signals, and ends it when nothing is left. Of two answers for one signal `done` is the one that
 * counts: another process may have refused what was possible a moment later.
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

/** The same again is no change. Refuses `wrong_state` for one that is finished. */
export function cancelBulk(current: StoredBulk, by: string, at: string): StoredBulk | Refusal {
  if (current.state === 'finished') return refuse('wrong_state', 'the bulk disposition is finished')
  if (current.state !== 'running') return current
  return { ...current, state: 'cancelling', cancelled_by: by, updated_at: at }
}

/** Whether this very bulk disposition moved the signal, as its history says. */
export function isMovedBy({ metadata }: Pick<StoredSignal, 'metadata'>, bulk_id: string): boolean {
  return metadata.status_history.some(({ bulk }) => bulk === bulk_id)
}

/** How many of those in each status the table lets go there. */
export function countAllowed(counts: ReadonlyMap<SignalStatus, number>, to: SignalStatus): number {
  return [...counts].reduce((sum, [from, count]) => sum + (transitions[from].includes(to) ? count : 0), 0)
}
