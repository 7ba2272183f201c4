// Whether an exchange is work of the site itself: the profile agrees to it, now as when it began.
import type { Call } from '../../../../kernel/operation/call.ts'
import { settings } from '../../settings.ts'
import type { StoredExchange } from '../model.ts'
import { findStandingAgreement } from './standing-agreement.ts'

export function isAgreedByProfile(call: Pick<Call, 'settings'>, exchange: StoredExchange): boolean {
  const { agreements } = call.settings(settings)
  return exchange.part !== 'proposer' && findStandingAgreement(agreements, exchange) !== undefined
}
