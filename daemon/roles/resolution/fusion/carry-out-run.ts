// Takes a run from phase to phase, until it reaches its goal, fails or is cancelled.

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
  const ended = new AbortController()
  const signal = AbortSignal.any([call.signal, ended.signal])
  const end = { topic: runTopic(id), poll_interval_ms, hasEnded: () => hasRunEnded(call, id) }
  const watching = abortWhenEnded(call, end, ended.signal, ended)
  let isThrough = false
  try {
    while (!signal.aborted && (await performNextPhase(call, id, signal)));
    isThrough = !call.signal.aborted
  } finally {
    ended.abort()
    await watching
    if (!isThrough) await resetAttempts(call, id)
  }
}

/** Only the end of the whole process counts as an attempt, not an orderly stop or an unavailable store. */
async function resetAttempts(call: Call, id: string): Promise<void> {
  await call
    .store(fusionRuns)
    .update(id, ({ value }) => ({
      ...(value.attempts > 0 ? { next: { ...value, attempts: 0 } } : {}),
      answer: undefined,
    }))
    .catch((error: unknown) => call.log.warn('resolution.run.not-released', { run: id, error: String(error) }))
}

async function hasRunEnded(call: Call, id: string): Promise<boolean> {
  const doc = await call.store(fusionRuns).find(id)
  return !doc || isEnded(doc.value)
}

/** Returns whether another phase may follow. */
async function performNextPhase(call: Call, id: string, signal: AbortSignal): Promise<boolean> {
  const { value } = await call.store(fusionRuns).get(id)
  const phase = nextPhase(value)
  if (!phase) return false
  const run = await changeActiveRun(call, id, `${phase}-begun`, (now) =>
    beginPhase(now, phase, call.nowIso(), call.now()),
  )
  if (isEnded(run.value)) return false
  const found = await performPhase(call, run, phase, signal)
  if (found === 'ended') return false
  if (isRefusal(found)) return await failRun(call, id, found)
  const keep_until = call.now() + call.settings(settings).keep_days * day_ms
  try {
    await changeActiveRun(call, id, `${phase}-done`, (now) =>
      completePhase(now, phase, found, call.nowIso(), keep_until),
    )
  } catch (error) {
    // A result that no document can hold fails again each time; only an unavailable store is worth a retry.
    if (isRefusal(error)) throw error
    return await failRun(call, id, logInternalFailure(call, id, error))
  }
  // Decisions wait while a run writes clusters.
  if (phase === 'resolve') call.wake('settle')
  return true
}

async function failRun(call: Call, id: string, { code, message: reason }: Refusal): Promise<false> {
  await changeActiveRun(call, id, 'failed', (now) => markRunFailed(now, { code, reason }, call.nowIso(), call.now()))
  call.wake('files')
  return false
}

/** Leaves a run that has ended as it is. */
async function changeActiveRun(
  call: Call,
  id: string,
  verb: string,
  rule: (run: StoredRun) => StoredRun,
): Promise<Doc<StoredRun>> {
  const stepped = await changeRun(call, id, `resolution.fusion-run.${verb}`, (run) => (isEnded(run) ? run : rule(run)))
  if (isRefusal(stepped)) throw stepped
  return stepped
}

/** Throws where the store is unavailable: the worker then tries the run again. Returns all other failures. */
async function performPhase(
  call: Call,
  run: Doc<StoredRun>,
  phase: RunPhase,
  signal: AbortSignal,
): Promise<PhaseResult | Refusal | 'ended'> {
  try {
    const lens = await call.store(lenses).get(run.value.lens_id)
    const isLast = phase === 'resolve' || (phase === 'match' && run.value.goal === 'matched')
    const found = await call.part(runWork).perform(buildPhaseJob(run, phase, lens.value.body, isLast), signal)
    if (isRefusal(found)) return found
    const known: Doc<StoredRun> = { ...run, value: { ...run.value, ...found } }
    if (phase === 'extract') for (const use of found.sources ?? []) await bindLens(call, lens, buildLensUse(run, use))
    if (isLast) await publishMatches(call, known, found.counts.matches ?? 0, signal)
    if (phase === 'resolve') await publishRegistry(call, known, found.counts.entities ?? 0, signal)
    return found
  } catch (error) {
    if (signal.aborted) return 'ended'
    if (!isRefusal(error)) return logInternalFailure(call, run.id, error)
    if (error.row.retryable && error.code !== 'timeout') throw error
    return error
  }
}

/** A defect would fail again each time, so it fails the run. */
function logInternalFailure(call: Call, run: string, error: unknown): Refusal {
  const { trace_id } = call.trace
  const why = error instanceof Error ? (error.stack ?? error.message) : String(error)
  call.log.error('resolution.run.broken', { trace_id, run, error: why })
  return refuse('internal', 'the service failed: see its log for the reason')
}

function buildPhaseJob(
  { id, value }: Doc<StoredRun>,
  phase: RunPhase,
  lens: PhaseJob['lens'],
  isLast: boolean,
): PhaseJob {
  const { tenant_id, seed, sources } = value
  const { threshold = lens.threshold, null_penalty = lens.null_penalty, id_field = lens.id_field } = value
  const seen = { ...lens, threshold, null_penalty, id_field }
  return { run: id, phase, lens: seen, tenant_id, seed, sources, isLast }
}

function buildLensUse({ id: run_id, value: { label } }: Doc<StoredRun>, { node_id, columns }: RunSource) {
  return { dataset: node_id, run_id, label, ...(columns ? { columns } : {}) }
}
