// Advances an exchange by one step: sends what is due, waits for missing pieces, publishes the result, or cleans up.

import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { JobCall } from '../../../../kernel/job/job.ts'
import { describeFailure } from '../../../../kernel/job/job-fields.ts'
import { completeStep, endJob, waitForEvent } from '../../../../kernel/job/rules.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { runWork } from '../../parts.ts'
import { settings } from '../../settings.ts'
import { listSites } from '../agreement/agreement.ts'
import { refuseOtherTextForm } from '../agreement/find-agreed-lens.ts'
import { findStandingAgreement } from '../agreement/standing-agreement.ts'
import { changeExchange } from '../change-exchange.ts'
import { sendEnd, sendProposal } from '../message/send-message.ts'
import { isOver, runIdOfExchange, type StoredExchange } from '../model.ts'
import { dropPieces } from '../piece/piece-sets.ts'
import { acceptProposal } from '../proposal/accept-proposal.ts'
import { checkOpenExchanges } from '../proposal/check-open-exchanges.ts'
import { type ExchangeFailure, failExchange } from './end-early.ts'
import { endExchangeRun } from './exchange-run.ts'
import { findExpiry } from './find-expiry.ts'
import { applyStepChange, type ExchangeStepOutcome, performStep } from './perform-step.ts'
import { runWhileActive } from './run-while-active.ts'

export async function advanceExchange(call: JobCall, doc: Doc<StoredExchange>): Promise<undefined> {
  if (isOver(doc.value)) return await cleanUpExchange(call, doc)
  if (await expireExchange(call, doc)) return
  const step = doc.value.state === 'proposed' ? negotiateAgreement : performStep
  const outcome = await runWhileActive(call, doc.id, (signal) => step(call, doc, signal))
  // A refusal by the terms of the exchange ends it, also one that would be a matter of time for a caller.
  if (isRefusal(outcome)) await endExchange(call, doc.id, describeFailure(outcome))
  if (outcome === 'waits')
    await changeExchange(call, doc.id, 'resolution.exchange.waits', (current) => waitForEvent(current, call.now()))
}

/** Fails an expired exchange. Returns whether the exchange was expired. */
export async function expireExchange(call: Call, { id, value }: Doc<StoredExchange>): Promise<boolean> {
  const failure = isOver(value) ? undefined : findExpiry(value, call.settings(settings), call.now())
  if (failure) await endExchange(call, id, failure)
  return failure !== undefined
}

async function endExchange(call: Call, id: string, failure: ExchangeFailure): Promise<void> {
  let hasEnded = false
  await changeExchange(call, id, 'resolution.exchange.failed', (current) => {
    const next = failExchange(current, failure, call.nowIso())
    hasEnded = next !== current
    return next
  })
  if (hasEnded) logExchangeEnd(call, id, failure)
}

export function logExchangeEnd(call: Call, exchange: string, { code, reason: detail }: ExchangeFailure): void {
  call.log.warn('resolution.exchange.ended', { trace_id: call.trace.trace_id, exchange, code, detail })
}

/** Offers the exchange to the linker first, since the parties need it ready. */
async function negotiateAgreement(
  call: JobCall,
  doc: Doc<StoredExchange>,
  signal: AbortSignal,
): Promise<ExchangeStepOutcome | Refusal> {
  const { agreement, part, agreed, keys } = doc.value
  if (part !== 'proposer') return await acceptByProfile(call, doc, signal)
  const [, other] = agreement.parties
  const linker = listSites(agreement).find((site) => !agreement.parties.includes(site))
  if (linker !== undefined && !agreed.includes(linker)) return await offerProposal(call, doc, linker)
  if (!agreed.includes(other)) return await offerProposal(call, doc, other)
  const isKeyed = agreement.privacy !== 'clk' || keys[other] !== undefined
  if (!isKeyed) return refuse('invalid', `${other} sent no public key, which clk requires`)
  return await applyStepChange(call, doc, 'agreed', (current) => ({
    ...current,
    state: 'running',
    updated_at: call.nowIso(),
  }))
}

/**
 * Stores the notified site before the proposal is sent, so that each site that knows of an exchange learns of its end.
 */
async function offerProposal(
  call: JobCall,
  doc: Doc<StoredExchange>,
  to: string,
): Promise<ExchangeStepOutcome | Refusal> {
  const { told: notified = [], tenant_id, peer } = doc.value
  if (notified.includes(to)) {
    await sendProposal(call, doc, to)
    return 'waits'
  }
  const refused = notified.length === 0 ? await checkOpenExchanges(call.service, tenant_id, peer, 1) : undefined
  if (refused) return refused
  return await applyStepChange(call, doc, 'offered', (current) => ({ ...current, told: [...notified, to] }))
}

/**
 * Agrees where a standing agreement covers the proposal; any other proposal waits for a person. Refuses one that no
 * change at this site makes acceptable, so that the proposer learns why.
 */
async function acceptByProfile(
  call: JobCall,
  doc: Doc<StoredExchange>,
  signal: AbortSignal,
): Promise<'waits' | Refusal> {
  const standing = findStandingAgreement(call.settings(settings).agreements, doc.value)
  if (!standing) return 'waits'
  // A linker normalises no texts.
  const other = doc.value.part === 'linker' ? undefined : refuseOtherTextForm(doc.value.agreement, call.site.name)
  if (other) return other
  const data = standing.file === undefined ? undefined : { file: standing.file }
  const accepted = await acceptProposal(call, doc, { data, agrees: 'profile' }, signal)
  if (isRefusal(accepted)) {
    const { code, message: detail } = accepted
    call.log.warn('resolution.exchange.not_agreed', { trace_id: call.trace.trace_id, exchange: doc.id, code, detail })
  }
  // An acceptance has woken the job: it does not wait.
  return 'waits'
}

/** Removes stored data before it notifies other sites, one a step: an unreachable site must delay neither. */
async function cleanUpExchange(call: JobCall, doc: Doc<StoredExchange>): Promise<undefined> {
  const { state, part, to_tell, failure } = doc.value
  if (state !== 'completed') await endExchangeRun(call, doc)
  await dropPieces(call, doc.id)
  if (state !== 'completed' || part === 'linker') await call.part(runWork).drop(runIdOfExchange(doc.id))
  const [site] = to_tell
  if (site !== undefined) await notifyEnd(call, doc, site)
  const end = state === 'completed' || state === 'failed' ? state : 'cancelled'
  await changeExchange(call, doc.id, 'resolution.exchange.over', (current) => {
    const rest = current.to_tell.filter((each) => each !== site)
    if (rest.length > 0) return completeStep({ ...current, to_tell: rest })
    return endJob(current, end, { to_tell: [] }, failure)
  })
}

/** A site that cannot be notified, such as a peer that was removed, ends the exchange by its own limits. */
async function notifyEnd(call: JobCall, doc: Doc<StoredExchange>, site: string): Promise<void> {
  try {
    await sendEnd(call, doc, site)
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (error.row.retryable) {
      await notifyLast(call, doc.id, site)
      throw error
    }
    const { trace_id } = call.trace
    call.log.warn('resolution.exchange.not_notified', { trace_id, exchange: doc.id, site, detail: error.message })
  }
}

/** The next attempt begins with another site. */
async function notifyLast(call: JobCall, id: string, site: string): Promise<void> {
  await changeExchange(call, id, 'resolution.exchange.over', (current) => {
    if (current.to_tell.length < 2) return current
    return { ...current, to_tell: [...current.to_tell.filter((each) => each !== site), site] }
  })
}
