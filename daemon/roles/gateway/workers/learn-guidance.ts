// Learns from traces that have settled: evaluates the artifacts that they carried, and mines new ones for their tenant and label.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { isAboveCeiling } from '../chat/rules.ts'
import { guideModelPart } from '../guide/chat/parts.ts'
import { endDemotedCycles } from '../guide/evaluation/end-demoted-cycles.ts'
import { evaluateTrace, loadActive } from '../guide/evaluation/evaluate-trace.ts'
import { followEffects } from '../guide/holdout/follow-effects.ts'
import { type Learner, learn_worker, type WaitingTrace } from '../guide/learning/learner.ts'
import { learningPart } from '../guide/learning/parts.ts'
import { loadAgents, loadTrace, restoreWindows } from '../guide/learning/read-traces.ts'
import { reportChange, synthesise } from '../guide/learning/synthesise.ts'
import type { TraceWindow } from '../guide/learning/trace-window.ts'
import { guideSettings } from '../guide/settings.ts'
import { reviewByRules } from '../guide/synthesis/review-by-rules.ts'

export const learnGuidance: Worker = { name: learn_worker, when: { every_ms: 1_000 }, run }

/** Of traces that are read in one run. */
const max_batch = 200
/** Traces of one tenant and label between two syntheses are mined together. */
const synthesis_interval_ms = 10_000

async function run(call: Call): Promise<void> {
  if (!call.settings(guideSettings).enabled) return
  const learner = call.part(learningPart)
  if (!learner.isRestored) {
    await restoreWindows(call, learner)
    learner.isRestored = true
  }
  await followEffects(call)
  const settled = learner.takeSettled(call.now(), max_batch)
  const agents = settled.length === 0 ? undefined : await loadAgents(call)
  const byScope = Map.groupBy(settled, ({ scope }) => learner.openWindow(scope))
  for (const [window, traces] of byScope) {
    if (call.signal.aborted) return
    await readScope(call, learner, window, { waiting: traces, agents })
  }
  const due = learner.windows.filter((window) => isDue(call, learner, window))
  learner.requested.clear()
  const { synthesis_max_concurrent: most } = call.settings(guideSettings)
  for (let at = 0; at < due.length && !call.signal.aborted; at += most)
    await Promise.all(due.slice(at, at + most).map((window) => learnFrom(call, window)))
  await endDemotedCycles(call, learner)
}

/** One tenant and label that cannot be learnt from holds up no other. */
async function learnFrom(call: Call, window: TraceWindow): Promise<void> {
  try {
    await synthesiseWindow(call, window)
  } catch (error) {
    call.log.warn('gateway.guide.synthesis_failed', { traces: window.size, error })
  }
}

/** Flagged artifacts are reviewed with the next synthesis: by the model where the site has one that may see them. */
async function synthesiseWindow(call: Call, window: TraceWindow): Promise<void> {
  await synthesise(call, window)
  const { label } = window.scope
  const { model_label_ceiling } = call.settings(guideSettings)
  const isAbove = label !== undefined && isAboveCeiling(label, call.site.labels.levels, model_label_ceiling)
  if (isAbove || !call.part(guideModelPart).own) await reviewByRules(call, await loadActive(call, window.scope))
}

function isDue(call: Call, { requested }: Learner, { scope, hasNews, mined_ms }: TraceWindow): boolean {
  if (requested.has(scope.tenant_id)) return true
  return hasNews && call.now() - mined_ms >= synthesis_interval_ms
}

type SettledTraces = {
  readonly waiting: readonly WaitingTrace[]
  readonly agents: ReadonlySet<string> | undefined
}

async function readScope(
  call: Call,
  learner: Learner,
  window: TraceWindow,
  { waiting, agents = new Set() }: SettledTraces,
): Promise<void> {
  const { scope } = window
  const active = await loadActive(call, scope)
  for (const each of waiting) {
    try {
      const trace = await loadTrace(call, each, agents)
      for (const change of window.add(trace)) await reportChange(call, scope, change)
      await evaluateTrace(call, learner, { scope, trace, active })
    } catch (error) {
      // One trace that cannot be read holds up no other.
      call.log.warn('gateway.guide.trace_not_learnt', { trace_id: each.trace_id, error })
    }
  }
}
