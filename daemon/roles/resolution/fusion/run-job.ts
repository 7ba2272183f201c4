// A run as a job: each step is a phase, which acts for the principal that requested it.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { StoredPrincipal } from '../../../kernel/identity/delegation.ts'
import { type JobCall, jobKind } from '../../../kernel/job/job.ts'
import { waitForEvent } from '../../../kernel/job/rules.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { throwRefusal } from '../../../kernel/operation/operation-contract.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { entityMatches } from '../entity-match/model.ts'
import { checkProfileAgrees } from '../exchange/agreement/check-profile-agrees.ts'
import { exchanges, runIdOfExchange } from '../exchange/model.ts'
import { changeRun } from '../fusion-run/change-run.ts'
import { fusionRuns, type RunPhase, type StoredRun } from '../fusion-run/model.ts'
import { publishMatches } from '../fusion-run/publish-matches.ts'
import { beginPhase, completePhase, markRunFailed, nextPhase, type RunPhaseResult } from '../fusion-run/rules.ts'
import type { RunSource } from '../fusion-run/run-source.ts'
import { lenses } from '../lens/stored-lens.ts'
import { bindLens } from '../lens-binding/bind.ts'
import { isLookupOnly } from '../matching.ts'
import { runTotal } from '../metrics.ts'
import { type PhaseJob, runWork } from '../parts.ts'
import { publishRegistry } from '../registry/publish-registry.ts'
import { reformRecords } from '../registry/reform-records.ts'
import { settings } from '../settings.ts'
import { listWithdrawnRefs } from '../withdrawal/list-withdrawn.ts'
import { findHoldReason } from './find-hold-reason.ts'

const day_ms = 86_400_000
const minute_ms = 60_000

export const runJob = jobKind<StoredRun>({
  name: 'fusion-run',
  collection: fusionRuns,
  allow: 'resolution:write',
  async checkSiteWork(call, { id, value }) {
    const exchange = value.exchange_id === undefined ? undefined : await call.store(exchanges).find(value.exchange_id)
    const isOfExchange = exchange && runIdOfExchange(exchange.id) === id && exchange.value.tenant_id === value.tenant_id
    return isOfExchange
      ? checkProfileAgrees(call, exchange.value)
      : refuse('forbidden', 'the run has no principal to act for')
  },
  limits(call) {
    const { runs_at_once, runs_at_once_per_tenant = runs_at_once } = call.settings(settings)
    return {
      at_once: isLookupOnly(call) ? 0 : runs_at_once,
      at_once_per_tenant: runs_at_once_per_tenant,
    }
  },
  // The computation of a phase, and as long again to write its results.
  stepLimit_ms: (call) => 2 * call.settings(settings).run_minutes * minute_ms,
  waits: { first_ms: 1_000, longest_ms: 60_000 },
  step: performNextPhase,
  fail: (run, { failure, at, now_ms }) => markRunFailed(run, failure, at, now_ms),
  onFailed(call) {
    call.count(runTotal, { state: 'failed' })
    call.wake('files')
  },
})

async function performNextPhase(call: JobCall, { id, value }: Doc<StoredRun>): Promise<Refusal | undefined> {
  const phase = nextPhase(value)
  const change = (verb: string, rule: (run: StoredRun) => StoredRun) =>
    throwRefusal(changeRun(call, id, `resolution.fusion-run.${verb}`, rule))
  if (!phase) {
    await change('waits', (run) => waitForEvent(run, call.now()))
    return undefined
  }
  const begun = await change(`${phase}-begun`, (run) => beginPhase(run, phase, call.nowIso()))
  const result = await performPhase(call, begun, phase)
  if (isRefusal(result)) return result
  const files_until_ts = call.now() + call.settings(settings).keep_days * day_ms
  const verb = result.held ? 'held' : `${phase}-done`
  await change(verb, (run) => completePhase(run, phase, result, call.nowIso(), files_until_ts))
  if (phase === 'resolve') wakeWaiting(call)
  return undefined
}

/** Decisions wait while a run writes clusters, and files of folders until a run of their lens has completed. */
function wakeWaiting(call: Call): void {
  call.wake('recluster')
  call.wake('arrival-folders')
}

/**
 * Reads what the principal may read. What follows from it concerns records of every label in the registry of the tenant,
 * so the service writes it, under labels that are joined.
 */
async function performPhase(call: JobCall, run: Doc<StoredRun>, phase: RunPhase): Promise<RunPhaseResult | Refusal> {
  const { service, signal } = call
  const lens = await call.store(lenses).get(run.value.lens_id)
  const isLast = phase === 'resolve' || (phase === 'match' && run.value.goal === 'matched')
  const nodes = run.value.sources.map(({ node_id }) => node_id)
  const { label } = run.value
  const withdrawn = phase === 'extract' ? await listWithdrawnRefs(service, run.value, { nodes, label }) : []
  const job = { ...buildPhaseJob(run, phase, lens.value.body), isLast, withdrawn }
  const result = await call.part(runWork).perform(job, signal)
  if (isRefusal(result)) return result
  const { left_out: _leftOut, ...results } = result
  const updated: Doc<StoredRun> = { ...run, value: { ...run.value, ...results } }
  if (phase === 'extract') for (const use of result.sources ?? []) await bindLens(service, lens, buildLensUse(run, use))
  const held = phase === 'resolve' ? await findHoldReason(service, updated, signal) : undefined
  if (isLast) {
    // People may decide the matches of a run that is held. No session is opened for them before its result is accepted.
    const { consensus: _later, ...withoutConsensus } = updated.value
    const principal = held ? undefined : await storeConsultPrincipal(call, run)
    if (isRefusal(principal)) return principal
    const value = held ? withoutConsensus : { ...updated.value, ...(principal ? { consult_principal: principal } : {}) }
    await publishMatches(service, { ...updated, value }, result.counts.matches ?? 0, signal)
  }
  if (held) return { ...result, held }
  if (phase !== 'resolve') return result
  await publishRegistry(service, updated, result.counts.entities ?? 0, signal)
  const reformed = await reformRecords(service, updated, lens.value.body, signal)
  return { ...result, left_out: [...(result.left_out ?? []), ...reformed] }
}

/** In whose name matches get sessions: one grant for all of the run and of records that arrive later, which the worker `consult` presents. */
async function storeConsultPrincipal(
  call: Call,
  { id, value }: Doc<StoredRun>,
): Promise<StoredPrincipal | Refusal | undefined> {
  if (!value.consensus || !value.job.principal) return undefined
  const principal = await call.delegation().store({ collection: entityMatches.name, id })
  if (isRefusal(principal)) return principal
  const keep = (stored: StoredRun) => ({ ...stored, consult_principal: principal })
  await throwRefusal(changeRun(call, id, 'resolution.fusion-run.consults', keep))
  return principal
}

function buildPhaseJob(
  { id, value }: Doc<StoredRun>,
  phase: RunPhase,
  lens: PhaseJob['lens'],
): Omit<PhaseJob, 'isLast' | 'withdrawn'> {
  const { tenant_id, seed, sources } = value
  const { threshold = lens.threshold, null_penalty = lens.null_penalty, id_field = lens.id_field } = value
  const runLens = { ...lens, threshold, null_penalty, id_field }
  return { run: id, phase, lens: runLens, tenant_id, seed, sources }
}

function buildLensUse({ id: run_id, value: { label } }: Doc<StoredRun>, { node_id, columns }: RunSource) {
  return { dataset: node_id, run_id, label, ...(columns ? { columns } : {}) }
}
