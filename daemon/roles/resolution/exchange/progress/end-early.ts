// Pure steps that end an exchange, early or completed: secrets are removed at once, clean-up and notifications are left to
// the site.
import { leaveToSite } from '../../../../kernel/job/rules.ts'
import { listSites } from '../agreement/agreement.ts'
import { type ExchangeState, isOver, ownSiteOf, type StoredExchange } from '../model.ts'

export type ExchangeFailure = NonNullable<StoredExchange['failure']>
type EarlyEndState = Extract<ExchangeState, 'declined' | 'cancelled' | 'failed'>

/**
 * Ends an exchange; returns the same value if it has ended already. `by`: the other site that ended it, which is not
 * notified.
 */
export function endEarly(
  current: StoredExchange,
  state: EarlyEndState,
  failure: ExchangeFailure,
  { by, at }: { readonly by?: string; readonly at: string },
): StoredExchange {
  if (isOver(current)) return current
  const { secret: _secret, coming: _coming, ...rest } = current
  const self = ownSiteOf(current)
  const to_tell = listSites(current.agreement).filter(
    (site) => site !== self && site !== by && isInformed(current, site),
  )
  return leaveToSite({ ...rest, state, failure, to_tell, keys: {}, updated_at: at }, Date.parse(at))
}

/** Fails an exchange; cancels it where a person ended its run (`wrong_state`). */
export function failExchange(current: StoredExchange, { code, reason }: ExchangeFailure, at: string): StoredExchange {
  if (code === 'wrong_state') return endEarly(current, 'cancelled', { code: 'cancelled', reason }, { at })
  return endEarly(current, 'failed', { code, reason }, { at })
}

export function completeExchange(current: StoredExchange, at: string): StoredExchange {
  const { secret: _secret, coming: _coming, ...rest } = current
  return leaveToSite({ ...rest, state: 'completed', keys: {}, updated_at: at }, Date.parse(at))
}

/** Whether the site knows of the exchange: a notice to any other would reveal that the exchange exists. */
function isInformed({ part, state, told, agreement }: StoredExchange, site: string): boolean {
  if (part === 'proposer') return told?.includes(site) ?? true
  return part !== 'linker' || state !== 'proposed' || site === agreement.parties[0]
}
