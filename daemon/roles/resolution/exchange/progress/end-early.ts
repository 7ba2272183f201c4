// How an exchange ends before or when it is through, as pure steps: what it kept secret goes at once, the rest is owed.
import { listSites } from '../agreement/agreement.ts'
import { type ExchangeState, isOver, type StoredExchange } from '../model.ts'

export type ExchangeFailure = NonNullable<StoredExchange['failure']>
type EarlyEndState = Extract<ExchangeState, 'declined' | 'cancelled' | 'failed'>

/** The same value when it is over already. `by`: the site that said so, which need not be told. */
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

/** Whether the site has heard of it: of what it has not, it would only be told that there is something. */
function isInformed({ part, state, told, agreement }: StoredExchange, site: string): boolean {
  if (part === 'proposer') return told?.includes(site) ?? true
  return part !== 'linker' || state !== 'proposed' || site === agreement.parties[0]
}
