// Performs one step of an agreed exchange: awaits a round, prepares and sends one, or publishes the result.

import { isRefusal, type Refusal } from '../../../../kernel/error/errors.ts'
import type { JobCall } from '../../../../kernel/job/job.ts'
import { completeStep } from '../../../../kernel/job/rules.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { Lens } from '../../lens/model.ts'
import { buildPlan, type ExchangeStep } from '../agreement/build-plan.ts'
import { findAgreedLens } from '../agreement/find-agreed-lens.ts'
import { changeExchange } from '../change-exchange.ts'
import { sendAcceptance, sendRound } from '../message/send-message.ts'
import type { StoredExchange } from '../model.ts'
import { isSetCounted } from '../piece/count-piece.ts'
import { loadPieces } from '../piece/piece-sets.ts'
import { completeExchange } from './end-early.ts'
import { openExchangeRun, updateRunProgress } from './exchange-run.ts'
import { type ExchangeStepContext, prepareRound } from './prepare-round.ts'
import { publishResult } from './publish-result.ts'

export type ExchangeStepOutcome = 'moved' | 'waits'

/** Performs the current step of the plan. `signal` is aborted when the exchange or its run has ended. */
export async function performStep(
  call: JobCall,
  doc: Doc<StoredExchange>,
  signal: AbortSignal,
): Promise<ExchangeStepOutcome | Refusal> {
  const { agreement, tenant_id, part, step: at, is_granted } = doc.value
  // The budget of the peer admitted this step; the next ones need no admission.
  if (!is_granted) return await applyStepChange(call, doc, 'granted', (current) => ({ ...current, is_granted: true }))
  const self = call.site.name
  const plan = buildPlan(agreement, self)
  const lens = await findAgreedLens(call, tenant_id, agreement)
  const isParty = agreement.parties.includes(self)
  if (isParty && isRefusal(lens)) return lens
  const step = plan[at]
  if (!step) {
    const completed = await changeExchange(call, doc.id, 'resolution.exchange.completed', (current) =>
      completeExchange(current, call.nowIso()),
    )
    return isRefusal(completed) ? completed : 'moved'
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
  return await applyStepChange(call, doc, 'step', (current) => ({
    ...current,
    step: at + 1,
    updated_at: call.nowIso(),
  }))
}

async function isRoundReceived(
  call: JobCall,
  { id, value }: Doc<StoredExchange>,
  { from, round }: Extract<ExchangeStep, { do: 'await' }>,
): Promise<boolean> {
  return isSetCounted(value, from, round) && (await loadPieces(call, id, from, round)) !== undefined
}

async function carryOutStep(context: ExchangeStepContext, step: ExchangeStep): Promise<Refusal | undefined> {
  const { call, doc } = context
  if (step.do === 'await') return undefined
  const refused = step.do === 'send' ? await prepareRound(context, step.round) : await publishResult(context)
  if (refused) return refused
  if (step.do === 'send') await sendRound(call, doc, step.round, step.to)
  return undefined
}

/** Changes the exchange and completes the step of its job. */
export async function applyStepChange(
  call: JobCall,
  { id }: Doc<StoredExchange>,
  verb: string,
  rule: (current: StoredExchange) => StoredExchange,
): Promise<ExchangeStepOutcome | Refusal> {
  const changed = await changeExchange(call, id, `resolution.exchange.${verb}`, (current) =>
    completeStep(rule(current)),
  )
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
