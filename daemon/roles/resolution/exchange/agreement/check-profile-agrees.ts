// Checks that an exchange is work of the site itself: the profile agrees to it, now as when it began.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { settings } from '../../settings.ts'
import type { StoredExchange } from '../model.ts'
import { findStandingAgreement } from './standing-agreement.ts'

export function checkProfileAgrees(call: Pick<Call, 'settings'>, exchange: StoredExchange): Refusal | undefined {
  const { agreements } = call.settings(settings)
  if (exchange.part !== 'proposer' && findStandingAgreement(agreements, exchange)) return undefined
  return refuse(
    'forbidden',
    'the exchange has no person of this site to act for, and no agreement of the profile (resolution.agreements) covers it any more',
  )
}
