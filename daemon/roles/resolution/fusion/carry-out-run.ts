// Performs the phases of a run until it reaches its goal, fails or is cancelled.

import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { abortWhenEnded } from '../abort-when-ended.ts'
import { changeRun, runTopic } from '../fusion-run/change-run.ts'
import { fusionRuns, type RunPhase, type RunSource, type StoredRun } from '../fusion-run/model.ts'
import { publishMatches } from '../fusion-run/publish-matches.ts'
import { beginPhase, completePhase, isEnded, markRunFailed, nextPhase } from '../fusion-run/rules.ts'
import { lenses } from '../lens/stored-lens.ts'
import { bindLens } from '../lens-binding/bind.ts'
import { type PhaseJob, type PhaseResult, runWork } from '../parts.ts'
import { publishRegistry } from '../registry/publish-registry.ts'
import { settings } from '../settings.ts'

const day_ms = 86_400_000
const poll_interval_ms = 2_000

export async function carryOutRun(call: Call, id: string): Promise<void> {
  const endController = new AbortController()
  const signal = AbortSignal.any([call.signal, endController.signal])
  const end = { topic: runTopic(id), poll_interval_ms, hasEnded: () => hasRunEnded(call, id) }
  const watching = abortWhenEnded(call, end, endController.signal, endController)
  let isFinished = false
  try {
    while (!signal.aborted && (await performNextPhase(call, id, signal)));
    isFinished = !call.signal.aborted
  } finally {
    endController.abort()
    await watching
    if (!isFinished) await resetAttempts(call, id)
  }
}

/** Only a crash of the process counts as an attempt, not an orderly stop or an unavailable store. */
async function resetAttempts(call: Call, id: string): Promise<void> {
  await call
    .store(fusionRuns)
    .update(id, ({ value }) => ({
      ...(value.attempts > 0 ? { next: { ...value, attempts: 0 } } : {}),
      answer: undefined,
    }))
    .catch((error: unknown) => call.log.warn('resolution.run.not_released', { run: id, error: String(error) }))
}

async function hasRunEnded(call: Call, id: string): Promise<boolean> {
  const doc = await call.store(fusionRuns).find(id)
  return !doc || isEnded(doc.value)
}

/** Performs the next phase. Returns whether another phase may follow. */
async function performNextPhase(call: Call, id: string, signal: AbortSignal): Promise<boolean> {
  const { value } = await call.store(fusionRuns).get(id)
  const phase = nextPhase(value)
  if (!phase) return false
  const run = await changeActiveRun(call, id, `${phase}-begun`, (current) =>
    beginPhase(current, phase, call.nowIso(), call.now()),
  )
  if (isEnded(run.value)) return false
  const result = await performPhase(call, run, phase, signal)
  if (result === 'ended') return false
  if (isRefusal(result)) return await failRun(call, id, result)
  const files_until_ts = call.now() + call.settings(settings).keep_days * day_ms
  try {
    await changeActiveRun(call, id, `${phase}-done`, (current) =>
      completePhase(current, phase, result, call.nowIso(), files_until_ts),
    )
  } catch (error) {
    // A result too large for a document fails again each time; only an unavailable store is worth a retry.
    if (isRefusal(error)) throw error
    return await failRun(call, id, logInternalFailure(call, id, error))
  }
  // Decisions wait while a run writes clusters.
  if (phase === 'resolve') call.wake('recluster')
  return true
}

async function failRun(call: Call, id: string, { code, message: reason }: Refusal): Promise<false> {
  await changeActiveRun(call, id, 'failed', (run) => markRunFailed(run, { code, reason }, call.nowIso(), call.now()))
  call.wake('files')
  return false
}

/** Changes a run, unless it has ended. */
async function changeActiveRun(
  call: Call,
  id: string,
  verb: string,
  rule: (run: StoredRun) => StoredRun,
): Promise<Doc<StoredRun>> {
  const changed = await changeRun(call, id, `resolution.fusion-run.${verb}`, (run) => (isEnded(run) ? run : rule(run)))
  if (isRefusal(changed)) throw changed
  return changed
}

/** Performs one phase. Throws if the store is unavailable, so that the worker retries; returns any other failure. */
async function performPhase(
  call: Call,
  run: Doc<StoredRun>,
  phase: RunPhase,
  signal: AbortSignal,
): Promise<PhaseResult | Refusal | 'ended'> {
  try {
    const lens = await call.store(lenses).get(run.value.lens_id)
    const isLast = phase === 'resolve' || (phase === 'match' && run.value.goal === 'matched')
    const result = await call.part(runWork).perform(buildPhaseJob(run, phase, lens.value.body, isLast), signal)
    if (isRefusal(result)) return result
    const updated: Doc<StoredRun> = { ...run, value: { ...run.value, ...result } }
    if (phase === 'extract') for (const use of result.sources ?? []) await bindLens(call, lens, buildLensUse(run, use))
    if (isLast) await publishMatches(call, updated, result.counts.matches ?? 0, signal)
    if (phase === 'resolve') await publishRegistry(call, updated, result.counts.entities ?? 0, signal)
    return result
  } catch (error) {
    if (signal.aborted) return 'ended'
    if (!isRefusal(error)) return logInternalFailure(call, run.id, error)
    if (error.row.retryable && error.code !== 'timeout') throw error
    return error
  }
}

/** Logs a defect, which fails the run since it would fail again each time. */
function logInternalFailure(call: Call, run: string, error: unknown): Refusal {
  const { trace_id } = call.trace
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  call.log.error('resolution.run.failed', { trace_id, run, error: detail })
  return refuse('internal', 'the service failed with an internal error: see its log')
}

function buildPhaseJob(
  { id, value }: Doc<StoredRun>,
  phase: RunPhase,
  lens: PhaseJob['lens'],
  isLast: boolean,
): PhaseJob {
  const { tenant_id, seed, sources } = value
  const { threshold = lens.threshold, null_penalty = lens.null_penalty, id_field = lens.id_field } = value
  const runLens = { ...lens, threshold, null_penalty, id_field }
  return { run: id, phase, lens: runLens, tenant_id, seed, sources, isLast }
}

function buildLensUse({ id: run_id, value: { label } }: Doc<StoredRun>, { node_id, columns }: RunSource) {
  return { dataset: node_id, run_id, label, ...(columns ? { columns } : {}) }
}
