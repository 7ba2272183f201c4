// Pure steps that end an exchange, early or completed: secrets are removed at once, clean-up and notifications become
// pending.
import { listSites } from '../agreement/agreement.ts'
import { type ExchangeState, isOver, type StoredExchange } from '../model.ts'

export type ExchangeFailure = NonNullable<StoredExchange['failure']>
type EarlyEndState = Extract<ExchangeState, 'declined' | 'cancelled' | 'failed'>

/**
 * Ends an exchange; returns the same value if it has ended already. `by`: the site that ended it, which is not
 * notified.
 */
export function endEarly(
  current: StoredExchange,
  state: EarlyEndState,
  failure: ExchangeFailure,
  { self, by, at }: { readonly self: string; readonly by: string; readonly at: string },
): StoredExchange {
  if (isOver(current)) return current
  const { secret: _secret, coming: _coming, ...rest } = current
  const to_tell = listSites(current.agreement).filter(
    (site) => site !== self && site !== by && isInformed(current, site),
  )
  return { ...rest, state, failure, to_tell, keys: {}, owes: 1, updated_at: at }
}

export function completeExchange(current: StoredExchange, at: string): StoredExchange {
  const { secret: _secret, coming: _coming, ...rest } = current
  return { ...rest, state: 'completed', keys: {}, owes: 1, updated_at: at }
}

/** Whether the site knows of the exchange: a notice to any other would reveal that the exchange exists. */
function isInformed({ part, state, told, agreement }: StoredExchange, site: string): boolean {
  if (part === 'proposer') return told?.includes(site) ?? true
  return part !== 'linker' || state !== 'proposed' || site === agreement.parties[0]
}
