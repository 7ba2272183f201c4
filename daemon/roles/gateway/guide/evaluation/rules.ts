// The evaluator's pure rules: the score of an artifact by what came of the traces that carried it, and when it is demoted.

/** How bad each signal was, from 0 to 1; undefined: the trace says nothing of it. */
export type EvaluationSignals = {
  /** Of calls of the tools that the artifact is about: HTTP 5xx or an exception. */
  readonly l3_error?: number | undefined
  /** Of agents alone: their output does not fit the intent schema. */
  readonly l3_schema_mismatch?: number | undefined
  readonly user_feedback?: number | undefined
  /** One less the confidence of the artifact itself. */
  readonly evaluator_confidence: number
}
export type ScoreTerm = keyof EvaluationSignals
export type EvaluatorWeights = Readonly<Record<ScoreTerm, number>>
export type SignalMeans = Readonly<Record<ScoreTerm, number>>

const terms = ['l3_error', 'l3_schema_mismatch', 'user_feedback', 'evaluator_confidence'] as const

/** State of one artifact between evaluations. */
export type ArtifactScoring = {
  readonly score: number
  readonly decomposition: SignalMeans
  readonly low_scores: number
}

export const first_evaluation: ArtifactScoring = {
  score: 1,
  decomposition: { l3_error: 0, l3_schema_mismatch: 0, user_feedback: 0, evaluator_confidence: 0 },
  low_scores: 0,
}

/** Part of the newest trace in each term: three bad traces in a row make the score of a good artifact low, two do not. */
const newest_share = 0.3
/** Below this a score is low. */
export const low_score = 0.5
/** Evaluations with a low score in a row, where layer 3 does not dominate (document 002). */
const normal_demotion = 5

/**
 * One evaluation: each term is the exponentially weighted mean of its signal, and the score is one less their mean by weight. Terms
 * without a weight count for nothing.
 */
export function evaluate(
  before: ArtifactScoring,
  signals: EvaluationSignals,
  weights: EvaluatorWeights,
): ArtifactScoring {
  const decomposition = { ...before.decomposition }
  for (const term of terms) {
    const signal = signals[term]
    if (signal !== undefined) decomposition[term] += newest_share * (clampUnit(signal) - decomposition[term])
  }
  const score = scoreOf(decomposition, weights, signals)
  return { score, decomposition, low_scores: score < low_score ? before.low_scores + 1 : 0 }
}

/** The performance of layer 3 is as bad as the worse of its signals: calls that return do not make up for outputs that are useless. */
const term_groups: readonly (readonly ScoreTerm[])[] = [
  ['l3_error', 'l3_schema_mismatch'],
  ['user_feedback'],
  ['evaluator_confidence'],
]

/** A term counts once it was ever bad, or the trace speaks of it: a tool without agents is not judged by their outputs. */
function scoreOf(of: SignalMeans, weights: EvaluatorWeights, signals: EvaluationSignals): number {
  let sum = 0
  let most = 0
  for (const group of term_groups) {
    const counted = group.filter((term) => signals[term] !== undefined || of[term] !== 0)
    sum += Math.max(0, ...counted.map((term) => weights[term] * of[term]))
    most += Math.max(0, ...counted.map((term) => weights[term]))
  }
  return most === 0 ? 1 : clampUnit(1 - sum / most)
}

/** Whether failures of layer 3 are at least half of what lowers the score. */
export function isDominatedByLayer3(of: SignalMeans, weights: EvaluatorWeights): boolean {
  const layer3 = weights.l3_error * of.l3_error + weights.l3_schema_mismatch * of.l3_schema_mismatch
  const rest = weights.user_feedback * of.user_feedback + weights.evaluator_confidence * of.evaluator_confidence
  return layer3 > 0 && layer3 >= rest
}

/** `fast`: evaluations where layer 3 dominates. The same number of cycles later, a demoted artifact is forgotten. */
export function needsDemotion(of: ArtifactScoring, weights: EvaluatorWeights, fast: number): boolean {
  const least = isDominatedByLayer3(of.decomposition, weights) ? fast : normal_demotion
  return of.low_scores >= least
}

/** Types whose artifacts are reviewed where those that were derived from them keep failing. */
const upstream_types = ['IntentPattern', 'PromptShim', 'SpecFragment'] as const

type UpstreamCandidate = {
  readonly id: string
  readonly type: string
  readonly intent_class: string | undefined
}

/** The artifacts upstream of a failing one: attached to the same traces, and for the same intent or for every one. */
export function listUpstream(failing: UpstreamCandidate, attached: readonly UpstreamCandidate[]): string[] {
  return attached
    .filter(({ id, type }) => id !== failing.id && upstream_types.some((of) => of === type))
    .filter(
      ({ intent_class }) =>
        intent_class === undefined || failing.intent_class === undefined || intent_class === failing.intent_class,
    )
    .map(({ id }) => id)
    .sort()
}

function clampUnit(value: number): number {
  return Math.min(1, Math.max(0, value))
}
