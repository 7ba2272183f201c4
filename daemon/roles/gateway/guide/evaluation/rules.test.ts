// Scores by weights, how soon low ones demote, and which artifacts are upstream.
import { expect, test } from 'vitest'
import { type ArtifactScoring, evaluate, first_evaluation, listUpstream, needsDemotion } from './rules.ts'

const weights = { l3_error: 3, l3_schema_mismatch: 3, user_feedback: 1.5, evaluator_confidence: 0.5 }
type Signals = Parameters<typeof evaluate>[1]

function evaluateUntilDemoted(signals: Signals): { evaluation: ArtifactScoring; traces: number } {
  let evaluation = first_evaluation
  for (let traces = 1; traces <= 100; traces += 1) {
    evaluation = evaluate(evaluation, signals, weights)
    if (needsDemotion(evaluation, weights, 2)) return { evaluation, traces }
  }
  return { evaluation, traces: Number.POSITIVE_INFINITY }
}

test('failures of layer 3 demote after 2 low scores, feedback of users alone after 5', () => {
  const failing = evaluateUntilDemoted({ l3_error: 1, evaluator_confidence: 0 })
  expect(failing.evaluation.low_scores).toBe(2)
  const disliked = evaluateUntilDemoted({ user_feedback: 1, evaluator_confidence: 0 })
  expect(disliked.evaluation.low_scores).toBe(5)
  expect(failing.traces).toBeLessThan(disliked.traces)
  expect(evaluateUntilDemoted({ l3_error: 0, evaluator_confidence: 0.4 }).traces).toBe(Number.POSITIVE_INFINITY)
})

test('the score is one less the mean of the signals by weight, and a good trace ends a row of low ones', () => {
  const certain: ArtifactScoring = {
    ...{ score: 0.2, low_scores: 4 },
    decomposition: { l3_error: 1, l3_schema_mismatch: 0, user_feedback: 1, evaluator_confidence: 0 },
  }
  const again = evaluate(certain, { l3_error: 1, user_feedback: 1, evaluator_confidence: 0 }, weights)
  expect(again).toMatchObject({ score: 1 - 4.5 / 5, low_scores: 5 })
  const better = evaluate(
    { ...certain, decomposition: { ...certain.decomposition, l3_error: 0.2, user_feedback: 0 } },
    { l3_error: 0, evaluator_confidence: 0 },
    weights,
  )
  expect(better.low_scores).toBe(0)
})

test('weights of 0 leave no score to be low', () => {
  const none = { l3_error: 0, l3_schema_mismatch: 0, user_feedback: 0, evaluator_confidence: 0 }
  expect(evaluate(first_evaluation, { l3_error: 1, evaluator_confidence: 1 }, none).score).toBe(1)
})

test('upstream are patterns of intents, texts and specifications on the same traces, for the same intent', () => {
  const attached = [
    { id: 'a', type: 'PromptShim', intent_class: undefined },
    { id: 'b', type: 'IntentPattern', intent_class: 'other' },
    { id: 'c', type: 'SpecFragment', intent_class: 'export' },
    { id: 'd', type: 'FailurePattern', intent_class: 'export' },
    { id: 'self', type: 'PromptShim', intent_class: 'export' },
  ]
  expect(listUpstream({ id: 'self', type: 'PromptShim', intent_class: 'export' }, attached)).toEqual(['a', 'c'])
})
