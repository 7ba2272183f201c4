// Advances an exchange as far as possible now: sends due messages, waits for missing pieces, and publishes the result.

import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { describeFailure } from '../../../../kernel/job/job-fields.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { runWork } from '../../parts.ts'
import { settings } from '../../settings.ts'
import { listSites } from '../agreement/agreement.ts'
import { findStandingAgreement } from '../agreement/standing-agreement.ts'
import { changeExchange } from '../change-exchange.ts'
import { sendEnd, sendProposal } from '../message/send-message.ts'
import { exchanges, isOver, runIdOfExchange, type StoredExchange } from '../model.ts'
import { dropPieces } from '../piece/piece-sets.ts'
import { acceptProposal } from '../proposal/accept-proposal.ts'
import { checkOpenExchanges } from '../proposal/check-open-exchanges.ts'
import { type ExchangeFailure, endEarly } from './end-early.ts'
import { endExchangeRun } from './exchange-run.ts'
import { findExpiry } from './find-expiry.ts'
import { applyStepChange, type ExchangeStepOutcome, performStep } from './perform-step.ts'
import { runWhileActive } from './run-while-active.ts'

/**
 * Returns when the exchange waits for a message. Throws temporary failures; the worker then tries the exchange again.
 */
export async function advanceExchange(call: Call, id: string): Promise<void> {
  for (;;) {
    const doc = await call.store(exchanges).find(id)
    if (!doc || doc.value.owes === 0 || call.signal.aborted) return
    if (await expireExchange(call, doc)) continue
    const moved = await tryNextStep(call, doc)
    if (isRefusal(moved)) await failExchange(call, doc, moved)
    else if (moved === 'waits') await markIdle(call, doc)
  }
}

/** Fails an expired exchange and removes its secret. Returns whether the exchange was expired. */
export async function expireExchange(call: Call, { id, value }: Doc<StoredExchange>): Promise<boolean> {
  const failure = isOver(value) ? undefined : findExpiry(value, call.settings(settings), call.now())
  if (!failure) return false
  await endExchange(call, id, 'failed', failure)
  return true
}

/** Returns permanent refusals and timeouts: both end the exchange. Throws any other error. */
async function tryNextStep(call: Call, doc: Doc<StoredExchange>): Promise<ExchangeStepOutcome | Refusal> {
  try {
    if (isOver(doc.value)) return await cleanUpExchange(call, doc)
    const step = doc.value.state === 'proposed' ? negotiateAgreement : performStep
    return await runWhileActive(call, doc.id, (signal) => step(call, doc, signal))
  } catch (error) {
    if (isRefusal(error) && (!error.row.retryable || error.code === 'timeout')) return error
    throw error
  }
}

/** Offers the exchange to the linker first, since the parties need it ready. */
async function negotiateAgreement(
  call: Call,
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
  return await applyStepChange(call, doc, 'agreed', (current) =>
    current.state === 'proposed' ? { ...current, state: 'running', owes: 1, updated_at: call.nowIso() } : current,
  )
}

/**
 * Stores the notified site before the proposal is sent, so that each site that knows of an exchange learns of its end.
 */
async function offerProposal(call: Call, doc: Doc<StoredExchange>, to: string): Promise<ExchangeStepOutcome | Refusal> {
  const { told: notified = [], tenant_id, peer } = doc.value
  if (notified.includes(to)) {
    await sendProposal(call, doc, to)
    return 'waits'
  }
  const refused = notified.length === 0 ? await checkOpenExchanges(call, tenant_id, peer, 1) : undefined
  if (refused) return refused
  return await applyStepChange(call, doc, 'offered', (current) => ({ ...current, told: [...notified, to] }))
}

/** Agrees where a standing agreement covers the proposal; any other proposal waits for a person. */
async function acceptByProfile(
  call: Call,
  doc: Doc<StoredExchange>,
  signal: AbortSignal,
): Promise<ExchangeStepOutcome> {
  const standing = findStandingAgreement(call.settings(settings).agreements, doc.value)
  if (!standing) return 'waits'
  const accepted = await acceptProposal(
    call,
    doc,
    standing.file === undefined ? undefined : { file: standing.file },
    signal,
  )
  if (!isRefusal(accepted)) return 'moved'
  const { trace_id } = call.trace
  const { code, message: detail } = accepted
  call.log.warn('resolution.exchange.not_agreed', { trace_id, exchange: doc.id, code, detail })
  return 'waits'
}

/** Removes stored data before it notifies other sites: an unreachable site must not delay the removal. */
async function cleanUpExchange(call: Call, doc: Doc<StoredExchange>): Promise<ExchangeStepOutcome | Refusal> {
  if (doc.value.state !== 'completed') await endExchangeRun(call, doc)
  await dropPieces(call, doc.id)
  if (doc.value.state !== 'completed' || doc.value.part === 'linker')
    await call.part(runWork).drop(runIdOfExchange(doc.id))
  for (const site of doc.value.to_tell) await sendEnd(call, doc, site)
  return await applyStepChange(call, doc, 'over', (current) => ({ ...current, to_tell: [], owes: 0 }))
}

/** Fails the exchange; where a person ended its run (`wrong_state`), cancels it. */
async function failExchange(call: Call, { id }: Doc<StoredExchange>, refused: Refusal): Promise<void> {
  const failure = describeFailure(refused)
  if (refused.code === 'wrong_state') await endExchange(call, id, 'cancelled', { ...failure, code: 'cancelled' })
  else await endExchange(call, id, 'failed', failure)
}

async function endExchange(
  call: Call,
  id: string,
  state: 'failed' | 'cancelled',
  failure: ExchangeFailure,
): Promise<void> {
  const self = call.site.name
  const at = call.nowIso()
  const { trace_id } = call.trace
  const { code, reason: detail } = failure
  call.log.warn('resolution.exchange.ended', { trace_id, exchange: id, code, detail })
  await changeExchange(call, id, 'resolution.exchange.failed', (current) =>
    isOver(current) ? { ...current, owes: 0 } : endEarly(current, state, failure, { self, by: self, at }),
  )
}

/** Marks the exchange as waiting, unless a message arrived meanwhile. */
async function markIdle(call: Call, { id, value }: Doc<StoredExchange>): Promise<void> {
  await changeExchange(call, id, 'resolution.exchange.waits', (current) =>
    current.heard === value.heard && current.state === value.state ? { ...current, owes: 0 } : current,
  )
}
