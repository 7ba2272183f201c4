// Builds the steps of each site in an exchange; the plans of all sites together are the protocol.

import type { ExchangeRound } from '../model.ts'
import { type ExchangeAgreement, findOtherParty } from './agreement.ts'

export type ExchangeStep =
  | { readonly do: 'send'; readonly round: ExchangeRound; readonly to: string }
  | { readonly do: 'await'; readonly round: ExchangeRound; readonly from: string }
  /** Publishes the result of this site. */
  | { readonly do: 'find' }

/**
 * Builds the steps of the site; empty for a site outside the agreement. Deterministic: a restart continues at the same
 * step.
 */
export function buildPlan(agreement: ExchangeAgreement, self: string): readonly ExchangeStep[] {
  if (agreement.privacy === 'none') return buildRecordsPlan(agreement, self)
  return agreement.privacy === 'psi' ? buildPointsPlan(agreement, self) : buildVectorsPlan(agreement, self)
}

function buildRecordsPlan(agreement: ExchangeAgreement, self: string): readonly ExchangeStep[] {
  const other = findOtherParty(agreement, self)
  return [
    ...includeIf(agreement.learns.includes(other), { do: 'send', round: 'records', to: other }),
    ...includeIf(agreement.learns.includes(self), { do: 'await', round: 'records', from: other }),
    { do: 'find' },
  ]
}

/**
 * Both parties send blinded points. The first party that learns (the finder) receives its points blinded again by the
 * other. It sends the shared positions to the other party if that one learns too.
 */
function buildPointsPlan(agreement: ExchangeAgreement, self: string): readonly ExchangeStep[] {
  const other = findOtherParty(agreement, self)
  const { learns, parties } = agreement
  const finder = learns.includes(parties[0]) ? parties[0] : parties[1]
  const start: readonly ExchangeStep[] = [
    { do: 'send', round: 'points', to: other },
    { do: 'await', round: 'points', from: other },
  ]
  if (self === finder) {
    return [
      ...start,
      { do: 'await', round: 'tags', from: other },
      ...includeIf(learns.includes(other), { do: 'send', round: 'places', to: other }),
      { do: 'find' },
    ]
  }
  return [
    ...start,
    { do: 'send', round: 'tags', to: other },
    ...includeIf(learns.includes(self), { do: 'await', round: 'places', from: other }),
    { do: 'find' },
  ]
}

function buildVectorsPlan({ parties, learns, linker = '' }: ExchangeAgreement, self: string): readonly ExchangeStep[] {
  if (self !== linker) {
    return [
      { do: 'send', round: 'vectors', to: linker },
      ...includeIf(learns.includes(self), { do: 'await', round: 'pairs', from: linker }),
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

function includeIf(isNeeded: boolean, step: ExchangeStep): readonly ExchangeStep[] {
  return isNeeded ? [step] : []
}
