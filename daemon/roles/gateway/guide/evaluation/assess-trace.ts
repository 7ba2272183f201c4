// Judges an artifact by one finished trace that it was eligible for: its score, its effect, and what follows.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import { isEscalating } from '../drift/check-mined.ts'
import { type EffectSamples, type EffectVerdict, isLook, judgeEffect } from '../holdout/judge-effect.ts'
import { type RateSample, rateOf } from '../learning/significance.ts'
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
  readonly verdict: EffectVerdict
  /** Times of failures of layer 3 on traces that carried it; the newest ones. */
  readonly failures: readonly number[]
  /** Of its traces, the newest ones: no one demotes or raises an artifact alone, however much they send. */
  readonly callers: readonly CallerSamples[]
  /** Callers of the traces after which its score was low in a row: two are enough. */
  readonly low_callers: readonly string[]
}

/** `caller`: `nameCaller`. */
export type CallerSamples = EffectSamples & { readonly caller: string }

const no_traces = { successes: 0, trials: 0 }
export const first_assessment: ArtifactAssessment = {
  ...{ evaluation: first_evaluation, verdict: 'pending', failures: [], callers: [], low_callers: [] },
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
  /** An administrator has decided on it: until traces without it say more, a low score is its fault. */
  readonly isDecided: boolean
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
  const side = isAttached ? 'attached' : 'held_out'
  const callers = countCaller(before.callers, trace, side)
  if (!callers) return { assessment: before, result: 'none' }
  const counted = { ...before, callers, [side]: countTrace(before[side], trace) }
  const verdict = isLook(counted) ? judgeWithoutAny(counted) : before.verdict
  if (!isAttached) return conclude(before, { ...counted, verdict }, 'none')
  const hasFailed = calls.some(({ isFailure }) => isFailure)
  const failures = hasFailed ? [...before.failures, trace.ended_ts].slice(-max_failures) : before.failures
  const evaluation = evaluate(before.evaluation, signalsOf(of, trace, calls), terms.weights)
  const lows = evaluation.low_scores === 0 ? [] : [...new Set([...before.low_callers, trace.caller])]
  const low_callers = lows.slice(0, 2)
  const assessment = { ...counted, verdict, evaluation, failures, low_callers }
  const isLow = needsDemotion(evaluation, terms.weights, terms.fast_demotion) && low_callers.length > 1
  if (isLow && isBlamed(counted, terms)) return { assessment, result: 'low_score' }
  return conclude(
    before,
    assessment,
    hasFailed && isEscalating(failures, trace.ended_ts) ? 'repeated_failures' : 'none',
  )
}

export const max_callers = 64
/** Of one caller, before others have any. */
const free_traces = 16

/** Counts are stored: they tell callers apart, and name none. */
export function nameCaller({ caller }: Pick<TraceRecord, 'caller'>): string {
  return sha256(caller).slice(0, 16)
}

/** Undefined: the caller has sent more than all others together, and the trace does not count. */
function countCaller(before: readonly CallerSamples[], trace: TraceRecord, side: keyof EffectSamples) {
  const caller = nameCaller(trace)
  const own = before.find((of) => of.caller === caller) ?? { caller, attached: no_traces, held_out: no_traces }
  const rest = before.filter((of) => of.caller !== caller)
  const ofOthers = rest.reduce((sum, of) => sum + countTrials(of), 0)
  if (countTrials(own) >= Math.max(free_traces, ofOthers)) return undefined
  return [...rest, { ...own, [side]: countTrace(own[side], trace) }].slice(-max_callers)
}

const countTrials = ({ attached, held_out }: EffectSamples) => attached.trials + held_out.trials

function countTrace({ successes, trials }: RateSample, { isSuccess }: TraceRecord): RateSample {
  return { successes: successes + Number(isSuccess), trials: trials + 1 }
}

/** Pending where the effect is gone without the traces of any one caller, who may choose which of them fail. */
function judgeWithoutAny({ attached, held_out, callers }: ArtifactAssessment): EffectVerdict {
  const { verdict } = judgeEffect({ attached, held_out })
  if (verdict === 'pending') return verdict
  const sign = verdict === 'benefit' ? 1 : -1
  const isHeldByAll = callers.every((own) => {
    const with_it = subtract(attached, own.attached)
    const without_it = subtract(held_out, own.held_out)
    if (Math.min(with_it.trials, without_it.trials) < least_compared) return false
    return sign * (rateOf(with_it) - rateOf(without_it)) >= least_loss
  })
  return isHeldByAll ? verdict : 'pending'
}

function subtract(whole: RateSample, part: RateSample): RateSample {
  return { successes: whole.successes - part.successes, trials: whole.trials - part.trials }
}

/** Of traces with and without it, before they say whose fault failures are. */
const least_compared = 4
/** Part of the traces by which those with the artifact fall behind: less may be chance. */
const least_loss = 0.15

/** Where as much fails without the artifact, its low score is not its fault. Without a hold-out, the score alone decides. */
function isBlamed(
  { attached, held_out }: EffectSamples,
  { isHoldOutEnabled, isDecided }: Pick<AssessmentTerms, 'isHoldOutEnabled' | 'isDecided'>,
): boolean {
  if (!isHoldOutEnabled) return true
  if (Math.min(attached.trials, held_out.trials) < least_compared) return isDecided
  return rateOf(held_out) - rateOf(attached) >= least_loss
}

function conclude(before: ArtifactAssessment, assessment: ArtifactAssessment, otherwise: AssessmentResult) {
  const { verdict } = assessment
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
export function listConcerned(
  { type, content, applicability }: AssessedArtifact,
  trace: TraceRecord,
): readonly ToolCall[] {
  if (applicability.intent_class !== undefined && applicability.intent_class !== trace.intent_class) return []
  if (type === 'FailurePattern') return trace.calls.filter(({ tool }) => tool === content.tool)
  if (type === 'ToolPairingHint') return trace.calls.filter(({ tool }) => tool === content.next_tool)
  if (type === 'ServiceConnectionHint') return trace.calls.filter(({ service }) => service === content.to)
  return trace.calls
}
