// Performs one step of an agreed exchange: awaits a round, prepares and sends one, or publishes the result.

import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { Lens } from '../../lens/model.ts'
import { buildPlan, type ExchangeStep } from '../agreement/build-plan.ts'
import { findAgreedLens } from '../agreement/find-agreed-lens.ts'
import { changeExchange } from '../change-exchange.ts'
import { sendAcceptance, sendRound } from '../message/send-message.ts'
import { isOver, type StoredExchange } from '../model.ts'
import { isSetCounted } from '../piece/count-piece.ts'
import { loadPieces } from '../piece/piece-sets.ts'
import { checkPeerBudget } from '../proposal/check-peer-budget.ts'
import { completeExchange } from './end-early.ts'
import { openExchangeRun, updateRunProgress } from './exchange-run.ts'
import { type ExchangeStepContext, prepareRound } from './prepare-round.ts'
import { publishResult } from './publish-result.ts'

export type ExchangeStepOutcome = 'moved' | 'waits'

/** Limit for a step that crashes the process each time. */
const max_attempts = 3

/** Performs the current step of the plan. `signal` is aborted when the exchange has ended. */
export async function performStep(
  call: Call,
  doc: Doc<StoredExchange>,
  signal: AbortSignal,
): Promise<ExchangeStepOutcome | Refusal> {
  const { agreement, tenant_id, part, step: at, is_granted } = doc.value
  if (!is_granted) return await grantBudget(call, doc)
  const self = call.site.name
  const plan = buildPlan(agreement, self)
  const lens = await findAgreedLens(call, tenant_id, agreement)
  const isParty = agreement.parties.includes(self)
  if (isParty && isRefusal(lens)) return lens
  const step = plan[at]
  if (!step) {
    return await applyStepChange(call, doc, 'completed', (current) =>
      isOver(current) ? current : completeExchange(current, call.nowIso()),
    )
  }
  if (at === 0 && part !== 'proposer') await sendAcceptance(call, doc)
  if (isParty && !isRefusal(lens)) {
    const ended = (await openExchangeRun(call, doc, lens)) ?? (await updateRunProgress(call, doc, plan))
    if (ended) return ended
  }
  if (step.do === 'await' && !(await isRoundReceived(call, doc, step))) return 'waits'
  // A linker sees no records and needs no lens.
  const context: ExchangeStepContext = { call, doc, signal, lens: isRefusal(lens) ? placeholderLens : lens.value.body }
  const refused = await carryOutStep(context, step)
  if (isRefusal(refused)) return refused
  return await applyStepChange(call, doc, 'step', (current) =>
    current.state === 'running' && current.step === at
      ? { ...current, step: at + 1, attempts: 0, updated_at: call.nowIso() }
      : current,
  )
}

async function isRoundReceived(
  call: Call,
  { id, value }: Doc<StoredExchange>,
  { from, round }: Extract<ExchangeStep, { do: 'await' }>,
): Promise<boolean> {
  return isSetCounted(value, from, round) && (await loadPieces(call, id, from, round)) !== undefined
}

async function carryOutStep(context: ExchangeStepContext, step: ExchangeStep): Promise<Refusal | undefined> {
  const { call, doc } = context
  if (step.do === 'await') return undefined
  const counted = await countAttempt(call, doc)
  if (isRefusal(counted)) return counted
  let isDone = false
  try {
    const refused = step.do === 'send' ? await prepareRound(context, step.round) : await publishResult(context)
    if (refused) return refused
    if (step.do === 'send') await sendRound(call, doc, step.round, step.to)
    isDone = true
    return undefined
  } finally {
    // Only a crash of the process counts as an attempt, not an orderly stop or an unavailable store.
    if (!isDone) await applyStepChange(call, doc, 'put-aside', (current) => ({ ...current, attempts: 0 }))
  }
}

function countAttempt(call: Call, doc: Doc<StoredExchange>) {
  return applyStepChange(call, doc, 'begun', (current) => {
    const { attempts = 0 } = current
    if (attempts >= max_attempts)
      return refuse(
        'internal',
        `the service crashed ${max_attempts} times in this step: see its log, then propose a new exchange`,
      )
    return { ...current, attempts: attempts + 1 }
  })
}

/** Charges the budget of the peer before the first message, since many requests may agree at the same time. */
async function grantBudget(call: Call, doc: Doc<StoredExchange>): Promise<ExchangeStepOutcome | Refusal> {
  const refused = await checkPeerBudget(call, doc.value)
  if (refused) return refused
  return await applyStepChange(call, doc, 'granted', (current) =>
    current.state === 'running' ? { ...current, is_granted: true } : current,
  )
}

export async function applyStepChange(
  call: Call,
  { id }: Doc<StoredExchange>,
  verb: string,
  rule: (current: StoredExchange) => StoredExchange | Refusal,
): Promise<ExchangeStepOutcome | Refusal> {
  const changed = await changeExchange(call, id, `resolution.exchange.${verb}`, rule)
  return isRefusal(changed) ? changed : 'moved'
}

const placeholderLens: Lens = {
  lens: 'none',
  version: '1.0.0',
  entity_type: 'none',
  told_by: 'fields',
  id_field: 'id',
  fields: [],
  text_evidence: 0,
  blocking: 'automatic',
  null_penalty: 0,
  max_block: 1_000,
  link_only: false,
}
