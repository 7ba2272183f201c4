// An artifact over traces in simulated time: how many low scores demote it, and how soon repeated failures are for an administrator.
import { expect, test } from 'vitest'
import type { TraceRecord } from '../learning/trace-record.ts'
import { type AssessmentResult, assessTrace, first_assessment } from './assess-trace.ts'

const weights = { l3_error: 3, l3_schema_mismatch: 3, user_feedback: 1.5, evaluator_confidence: 0.5 }
const artifact = { type: 'PromptShim', content: { confidence: 0 }, applicability: {} }
const minute = 60_000

type TraceGiven = { readonly isFailure?: boolean; readonly isMismatch?: boolean; readonly isRejected?: boolean }

/** Results of traces at these minutes; `low`: low scores in a row at the end, or when it is demoted. */
function assessAll(minutes: readonly number[], of: (at: number) => TraceGiven, isHoldOutEnabled = false) {
  let assessment = first_assessment
  const results: AssessmentResult[] = []
  for (const [at, each] of minutes.entries()) {
    const { isFailure = false, isMismatch, isRejected = false } = of(at)
    const call = { tool: 'pilot/find', service: 'pilot', arguments: {}, isFailure, error: '', isMismatch }
    const trace: TraceRecord = {
      ...{
        trace_id: String(at),
        conversation_id: '',
        intent_class: '',
        caller: at % 2 ? 'ann' : 'bob',
        words: [],
        calls: [call],
      },
      ...{ hasFeedback: isRejected, isRejected, isSuccess: !(isFailure || isMismatch || isRejected) },
      ended_ts: each * minute,
    }
    const terms = { weights, fast_demotion: 2, isHoldOutEnabled, isDecided: false }
    const assessed = assessTrace(assessment, artifact, { trace, isAttached: true }, terms)
    assessment = assessed.assessment
    results.push(assessed.result)
    if (assessed.result === 'low_score') break
  }
  return { results, low: assessment.evaluation.low_scores }
}

test('a third failure within ten minutes is for an administrator, a slower row is not', () => {
  const resultsOf = (...minutes: number[]) => assessAll(minutes, () => ({ isFailure: true }), true).results
  expect(resultsOf(0, 4, 9)).toEqual(['none', 'none', 'repeated_failures'])
  expect(resultsOf(0, 5, 10, 15)).toEqual(['none', 'none', 'none', 'none'])
  expect(resultsOf(0, 60, 61, 62).at(-1)).toBe('repeated_failures')
})

const hours = Array.from({ length: 30 }, (_, at) => at * 60)

test('failures, and outputs that do not fit although their calls return, demote after 2 low scores', () => {
  for (const given of [{ isFailure: true }, { isMismatch: true }]) {
    const { results, low } = assessAll(hours, () => given)
    expect([results.at(-1), low]).toEqual(['low_score', 2])
  }
  expect(assessAll(hours, () => ({ isMismatch: false })).results).toEqual(hours.map(() => 'none'))
})

test('where users reject more than fails, 5 low scores demote', () => {
  const { results, low } = assessAll(hours, (at) => ({ isRejected: true, isFailure: at % 3 === 0 }))
  expect([results.at(-1), low]).toEqual(['low_score', 5])
})
