// The run of a party in an exchange: it follows the state of the exchange and stores its result.

import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { endJob, isJobIdle, newJob } from '../../../../kernel/job/rules.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { changeRun } from '../../fusion-run/change-run.ts'
import { fusionRuns, type RunState, type StoredRun } from '../../fusion-run/model.ts'
import { isEnded } from '../../fusion-run/rules.ts'
import type { StoredLens } from '../../lens/stored-lens.ts'
import { runWork } from '../../parts.ts'
import type { ExchangeStep } from '../agreement/build-plan.ts'
import { type ExchangeRound, runIdOfExchange, type StoredExchange } from '../model.ts'

/**
 * Creates the run once, without work for the run worker while sites exchange data. Refuses if another run has its id.
 */
export async function openExchangeRun(
  call: Call,
  { id, value }: Doc<StoredExchange>,
  lens: Doc<StoredLens>,
  state: 'pending' | 'extracting' = 'extracting',
): Promise<Refusal | undefined> {
  const { agreement, sizes, tenant_id, label, created_by } = value
  const at = call.nowIso()
  const run: StoredRun = {
    tenant_id,
    label,
    created_by,
    created_at: at,
    updated_at: at,
    ...(state === 'pending' ? {} : { started_at: at }),
    lens: lens.value.lens,
    lens_id: lens.id,
    lens_version: lens.value.lens_version,
    entity_type: lens.value.entity_type,
    state,
    goal: 'completed',
    privacy: agreement.privacy,
    seed: agreement.seed,
    sources: agreement.parties.toSorted().map((node_id) => ({ node_id, records: sizes[node_id] ?? 0 })),
    counts: {},
    request_digest: value.request_digest,
    exchange_id: id,
    // The exchange has the principal, until the run is begun as one of this site alone.
    ...newJob(undefined, undefined),
    ...(agreement.threshold === undefined ? {} : { threshold: agreement.threshold }),
  }
  const audit = [
    { ...call.audited('resolution.exchange.run', runIdOfExchange(id), { exchange: id }, label), tenant_id },
  ]
  const created = await call.store(fusionRuns).create(runIdOfExchange(id), run, audit)
  if (created !== 'exists') return undefined
  const before = await call.store(fusionRuns).get(runIdOfExchange(id))
  if (before.value.exchange_id !== id)
    return refuse('already_exists', 'another run already has the id of the run of this exchange')
  return before.value.state === 'pending' && state !== 'pending' ? await beginProposedRun(call, id, run) : undefined
}

/** The run of a proposal begins once all sites have agreed; only then the set of the other one has a size. */
async function beginProposedRun(
  call: Call,
  id: string,
  { sources, started_at = call.nowIso() }: StoredRun,
): Promise<Refusal | undefined> {
  const changed = await changeExchangeRun(call, id, (current) => ({
    ...current,
    ...{ state: 'extracting', sources, started_at, updated_at: started_at },
  }))
  return isRefusal(changed) ? changed : undefined
}

/** Derives the state of a run from the completed steps of the plan. */
function runStateAt(step: number, steps: number): RunState {
  if (step === 0) return 'extracting'
  if (step >= steps - 1) return 'matched'
  return step === 1 ? 'extracted' : 'matching'
}

/** Refuses to change a run that has ended: its end ends the exchange too. */
export async function changeExchangeRun(
  call: Call,
  id: string,
  rule: (run: StoredRun) => StoredRun,
): Promise<Doc<StoredRun> | Refusal> {
  return await changeRun(call, runIdOfExchange(id), 'resolution.fusion-run.exchange', (run) =>
    isEnded(run) ? refuse('wrong_state', `the run is already ${run.state}`) : rule(run),
  )
}

export async function updateRunProgress(
  call: Call,
  doc: Doc<StoredExchange>,
  plan: readonly ExchangeStep[],
): Promise<Refusal | undefined> {
  const state = runStateAt(doc.value.step, plan.length)
  // A process may have written the result and ended before it stored the step.
  if ((await call.store(fusionRuns).find(runIdOfExchange(doc.id)))?.value.state === 'completed') return undefined
  const changed = await changeExchangeRun(call, doc.id, (run) =>
    run.state === state || !isJobIdle(run) ? run : { ...run, state, updated_at: call.nowIso() },
  )
  const step = plan[doc.value.step]
  const progress = {
    phase: state === 'extracting' || state === 'extracted' ? 'extract' : 'match',
    step: describeStep(step),
  } as const
  call.part(runWork).reportProgress(runIdOfExchange(doc.id), { ...progress, done: doc.value.step, total: plan.length })
  return isRefusal(changed) ? changed : undefined
}

function describeStep(step: ExchangeStep | undefined): string {
  if (step?.do === 'send') return `send ${roundNouns[step.round]} to ${step.to}`
  return step?.do === 'await' ? `wait for ${roundNouns[step.round]} of ${step.from}` : 'write'
}

const roundNouns: Readonly<Record<ExchangeRound, string>> = {
  records: 'records',
  points: 'blinded keys',
  tags: 'keys blinded twice',
  places: 'positions of shared keys',
  vectors: 'vectors',
  pairs: 'pairs',
}

export async function completeExchangeRun(
  call: Call,
  id: string,
  counts: StoredRun['counts'],
): Promise<Refusal | undefined> {
  const at = call.nowIso()
  const endFields = { updated_at: at, ended_at: at, files_until_ts: call.now() }
  const changed = await changeExchangeRun(call, id, (run) =>
    endJob(run, 'completed', { state: 'completed', counts, ...endFields }),
  )
  return isRefusal(changed) ? changed : undefined
}

/** Ends the run of an exchange that ended early. */
export async function endExchangeRun(call: Call, { id, value }: Doc<StoredExchange>): Promise<void> {
  const run = await call.store(fusionRuns).find(runIdOfExchange(id))
  if (run?.value.exchange_id !== id || isEnded(run.value)) return
  const { code, reason } = value.failure ?? { code: 'cancelled', reason: 'the exchange was cancelled' }
  const at = call.nowIso()
  const endFields = { updated_at: at, ended_at: at, files_until_ts: call.now() }
  const failure = { code, reason }
  await changeExchangeRun(call, id, (current) =>
    value.state === 'failed' || value.state === 'declined'
      ? endJob(current, 'failed', { ...endFields, state: 'failed', failure }, failure)
      : endJob(current, 'cancelled', { ...endFields, state: 'cancelled' }),
  )
}
