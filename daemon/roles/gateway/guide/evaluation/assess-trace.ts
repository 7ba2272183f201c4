// Judges an artifact by one finished trace that it was eligible for: its score, its effect, and what follows.
import { isEscalating } from '../drift/check-mined.ts'
import { type EffectSamples, isLook, judgeEffect } from '../holdout/judge-effect.ts'
import { rateOf } from '../learning/significance.ts'
import type { ToolCall, TraceRecord } from '../learning/trace-record.ts'
import {
  type ArtifactScoring,
  type EvaluationSignals,
  type EvaluatorWeights,
  evaluate,
  first_evaluation,
  needsDemotion,
} from './rules.ts'

/** State of an artifact between traces. */
export type ArtifactAssessment = EffectSamples & {
  readonly evaluation: ArtifactScoring
  /** The newest look at the traces with and without it. */
  readonly verdict: 'harm' | 'benefit' | 'pending'
  /** Times of failures of layer 3 on traces that carried it; the newest ones. */
  readonly failures: readonly number[]
  /** Callers of its traces, at most as many as are needed: no one demotes or raises an artifact alone, however much they send. */
  readonly callers: readonly CallerTraces[]
}

type CallerTraces = { readonly caller: string; readonly trials: number; readonly isBad: boolean }

const no_traces = { successes: 0, trials: 0 }
export const first_assessment: ArtifactAssessment = {
  ...{ evaluation: first_evaluation, verdict: 'pending', failures: [], callers: [] },
  ...{ attached: no_traces, held_out: no_traces },
}

/** `low_score` and `harm` demote it, `benefit` raises its weight once, `repeated_failures` is for an administrator to review. */
export type AssessmentResult = 'none' | 'low_score' | 'harm' | 'benefit' | 'repeated_failures'

export type AssessedArtifact = {
  readonly type: string
  readonly content: Readonly<Record<string, unknown>>
  readonly applicability: { readonly intent_class?: string | undefined }
}

export type AssessmentTerms = {
  readonly weights: EvaluatorWeights
  /** Low evaluations in a row where layer 3 dominates. */
  readonly fast_demotion: number
  readonly isHoldOutEnabled: boolean
}

const max_failures = 16

export function assessTrace(
  before: ArtifactAssessment,
  of: AssessedArtifact,
  { trace, isAttached }: { readonly trace: TraceRecord; readonly isAttached: boolean },
  terms: AssessmentTerms,
): { readonly assessment: ArtifactAssessment; readonly result: AssessmentResult } {
  const calls = listConcerned(of, trace)
  // A trace that never came near what the artifact is about says nothing of it.
  if (calls.length === 0) return { assessment: before, result: 'none' }
  const callers = countCaller(before.callers, trace)
  if (!callers) return { assessment: before, result: 'none' }
  const side = isAttached ? 'attached' : 'held_out'
  const counted = {
    ...before,
    callers,
    [side]: { successes: before[side].successes + Number(trace.isSuccess), trials: before[side].trials + 1 },
  }
  const verdict = isLook(counted) ? judgeEffect(counted).verdict : before.verdict
  if (!isAttached) return conclude(before, { ...counted, verdict }, 'none')
  const hasFailed = calls.some(({ isFailure }) => isFailure)
  const failures = hasFailed ? [...before.failures, trace.ended_ts].slice(-max_failures) : before.failures
  const evaluation = evaluate(before.evaluation, signalsOf(of, trace, calls), terms.weights)
  const assessment = { ...counted, verdict, evaluation, failures }
  if (
    needsDemotion(evaluation, terms.weights, terms.fast_demotion) &&
    isBlamed(counted, terms.isHoldOutEnabled) &&
    hasTwo(callers)
  )
    return { assessment, result: 'low_score' }
  return conclude(
    before,
    assessment,
    hasFailed && isEscalating(failures, trace.ended_ts) ? 'repeated_failures' : 'none',
  )
}

const max_callers = 64
/** Of one caller, before others have any. */
const free_traces = 16

/** Undefined: the caller has sent more than all others together, and the trace does not count. */
function countCaller(before: readonly CallerTraces[], { caller, isSuccess }: TraceRecord) {
  const own = before.find((of) => of.caller === caller)
  const rest = before.filter((of) => of !== own)
  const ofOthers = rest.reduce((sum, { trials }) => sum + trials, 0)
  if (own && own.trials >= Math.max(free_traces, ofOthers)) return undefined
  const counted = { caller, trials: (own?.trials ?? 0) + 1, isBad: own?.isBad === true || !isSuccess }
  return [...rest, counted].slice(-max_callers)
}

/** Whether traces of two callers went wrong. */
function hasTwo(callers: readonly CallerTraces[]): boolean {
  return callers.filter(({ isBad }) => isBad).length >= 2
}

/** Of traces with and without it, before they say whose fault failures are. */
const least_compared = 4
/** Part of the traces by which those with the artifact fall behind: less may be chance. */
const least_loss = 0.15

/** Where as much fails without the artifact, its low score is not its fault. Without a hold-out, the score alone decides. */
function isBlamed({ attached, held_out }: EffectSamples, isHoldOutEnabled: boolean): boolean {
  if (!isHoldOutEnabled) return true
  if (Math.min(attached.trials, held_out.trials) < least_compared) return false
  return rateOf(held_out) - rateOf(attached) >= least_loss
}

function conclude(before: ArtifactAssessment, assessment: ArtifactAssessment, otherwise: AssessmentResult) {
  const { verdict, callers } = assessment
  if (callers.length < 2) return { assessment, result: otherwise }
  if (verdict === 'harm') return { assessment, result: 'harm' as const }
  return {
    assessment,
    result: verdict === 'benefit' && before.verdict !== 'benefit' ? ('benefit' as const) : otherwise,
  }
}

function signalsOf(of: AssessedArtifact, trace: TraceRecord, calls: readonly ToolCall[]): EvaluationSignals {
  const outputs = calls.filter(({ isMismatch }) => isMismatch !== undefined)
  const { confidence } = of.content
  return {
    l3_error: Number(calls.some(({ isFailure }) => isFailure)),
    l3_schema_mismatch: outputs.length === 0 ? undefined : Number(outputs.some(({ isMismatch }) => isMismatch)),
    user_feedback: trace.hasFeedback ? Number(trace.isRejected) : undefined,
    evaluator_confidence: 1 - (typeof confidence === 'number' ? confidence : 0.5),
  }
}

/** Calls of a trace that an artifact is about; all of them where it names no tool. */
function listConcerned({ type, content, applicability }: AssessedArtifact, trace: TraceRecord): readonly ToolCall[] {
  if (applicability.intent_class !== undefined && applicability.intent_class !== trace.intent_class) return []
  if (type === 'FailurePattern') return trace.calls.filter(({ tool }) => tool === content.tool)
  if (type === 'ToolPairingHint') return trace.calls.filter(({ tool }) => tool === content.next_tool)
  if (type === 'ServiceConnectionHint') return trace.calls.filter(({ service }) => service === content.to)
  return trace.calls
}
