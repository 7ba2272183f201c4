// What each site does in an exchange, one step after the other; both sides' plans together are the protocol.
import { type Agreement, otherParty } from './agreement.ts'
import type { Round } from './model.ts'

export type Step =
  | { readonly do: 'send'; readonly round: Round; readonly to: string }
  | { readonly do: 'await'; readonly round: Round; readonly from: string }
  /** Settles what this site has learnt. */
  | { readonly do: 'find' }

/** Steps of the site; empty for one that takes no part. Deterministic, so that a restart goes on where it was. */
export function planOf(agreement: Agreement, self: string): readonly Step[] {
  if (agreement.privacy === 'none') return planOfRecords(agreement, self)
  return agreement.privacy === 'psi' ? planOfPoints(agreement, self) : planOfVectors(agreement, self)
}

function planOfRecords(agreement: Agreement, self: string): readonly Step[] {
  const other = otherParty(agreement, self)
  return [
    ...when(agreement.learns.includes(other), { do: 'send', round: 'records', to: other }),
    ...when(agreement.learns.includes(self), { do: 'await', round: 'records', from: other }),
    { do: 'find' },
  ]
}

/** Both blind their own; one of those that learn has its points blinded again, and tells the other if that one learns too. */
function planOfPoints(agreement: Agreement, self: string): readonly Step[] {
  const other = otherParty(agreement, self)
  const { learns, parties } = agreement
  const finder = learns.includes(parties[0]) ? parties[0] : parties[1]
  const start: readonly Step[] = [
    { do: 'send', round: 'points', to: other },
    { do: 'await', round: 'points', from: other },
  ]
  if (self === finder) {
    return [
      ...start,
      { do: 'await', round: 'tags', from: other },
      ...when(learns.includes(other), { do: 'send', round: 'places', to: other }),
      { do: 'find' },
    ]
  }
  return [
    ...start,
    { do: 'send', round: 'tags', to: other },
    ...when(learns.includes(self), { do: 'await', round: 'places', from: other }),
    { do: 'find' },
  ]
}

function planOfVectors({ parties, learns, linker = '' }: Agreement, self: string): readonly Step[] {
  if (self !== linker) {
    return [
      { do: 'send', round: 'vectors', to: linker },
      ...when(learns.includes(self), { do: 'await', round: 'pairs', from: linker }),
      { do: 'find' },
    ]
  }
  const others = parties.filter((party) => party !== self)
  return [
    ...others.map((from) => ({ do: 'await', round: 'vectors', from }) as const),
    ...others.filter((to) => learns.includes(to)).map((to) => ({ do: 'send', round: 'pairs', to }) as const),
    { do: 'find' },
  ]
}

function when(holds: boolean, step: Step): readonly Step[] {
  return holds ? [step] : []
}
