// An exchange as a job: it acts for the person of this site who proposed it or agreed to it, and in no one's name where the
// profile agreed.
import { jobKind } from '../../../../kernel/job/job.ts'
import { endJob } from '../../../../kernel/job/rules.ts'
import { isLookupOnly } from '../../matching.ts'
import { settings } from '../../settings.ts'
import { checkProfileAgrees } from '../agreement/check-profile-agrees.ts'
import { exchanges, isOver, type StoredExchange } from '../model.ts'
import { checkPeerBudget } from '../proposal/check-peer-budget.ts'
import { advanceExchange, logExchangeEnd } from './advance-exchange.ts'
import { failExchange } from './end-early.ts'

const minute_ms = 60_000
/** Computations of the longest step, each within the time of a run, and as long again to load and store their sets. */
const max_computations = 5

export const exchangeJob = jobKind<StoredExchange>({
  name: 'exchange',
  collection: exchanges,
  allow: 'resolution:write',
  // An editor of the store who removes a principal gains nothing that the profile does not grant.
  checkSiteWork(call, { value }) {
    const isAnswer = value.state === 'proposed' && value.part !== 'proposer'
    return isOver(value) || isAnswer ? undefined : checkProfileAgrees(call, value)
  },
  limits(call) {
    const { exchanges_at_once } = call.settings(settings)
    return {
      at_once: isLookupOnly(call) ? 0 : exchanges_at_once,
      at_once_per_tenant: exchanges_at_once,
    }
  },
  stepLimit_ms: (call) => 2 * max_computations * call.settings(settings).run_minutes * minute_ms,
  // Long computations for a peer delay only that peer, and its exchanges use its budget one after the other.
  serial_by: 'peer',
  waits: { first_ms: 5_000, longest_ms: 60_000 },
  // Charges the budget of the peer before the first message, since many requests may agree at the same time.
  async admit(call, { value }) {
    const isUngranted = value.state === 'running' && !value.is_granted
    return isUngranted ? await checkPeerBudget(call, value) : undefined
  },
  step: advanceExchange,
  fail: (current, { failure, at }) =>
    isOver(current) ? endJob(current, 'failed', {}, failure) : failExchange(current, failure, at),
  onFailed(call, { id, value }) {
    logExchangeEnd(call, id, value.failure ?? { code: 'failed', reason: '' })
  },
})
