// An artifact over traces in simulated time: how many low scores demote it, and how soon repeated failures are for an administrator.
import { expect, test } from 'vitest'
import type { TraceRecord } from '../learning/trace-record.ts'
import { type AssessmentResult, assessTrace, first_assessment } from './assess-trace.ts'

const weights = { l3_error: 3, l3_schema_mismatch: 3, user_feedback: 1.5, evaluator_confidence: 0.5 }
const artifact = { type: 'PromptShim', content: { confidence: 1 }, applicability: {} }
const minute = 60_000

type TraceGiven = { readonly isFailure?: boolean; readonly isMismatch?: boolean; readonly isRejected?: boolean }

function assessAll(minutes: readonly number[], of: TraceGiven, isHoldOutEnabled: boolean): AssessmentResult[] {
  const { isFailure = false, isMismatch, isRejected = false } = of
  let assessment = first_assessment
  return minutes.map((at) => {
    const call = { tool: 'pilot/find', service: 'pilot', arguments: {}, isFailure, error: '', isMismatch }
    const trace: TraceRecord = {
      ...{
        trace_id: String(at),
        conversation_id: '',
        intent_class: '',
        caller: 'ann',
        words: [],
        calls: [call],
        hasFeedback: isRejected,
      },
      ...{ isRejected, isSuccess: !(isFailure || isMismatch || isRejected), ended_ts: at * minute },
    }
    const terms = { weights, fast_demotion: 2, isHoldOutEnabled, isDecided: false }
    const assessed = assessTrace(assessment, artifact, { trace, isAttached: true }, terms)
    assessment = assessed.assessment
    return assessed.result
  })
}

test('a third failure within ten minutes is for an administrator, a slower row is not', () => {
  expect(assessAll([0, 4, 9], { isFailure: true }, true)).toEqual(['none', 'none', 'repeated_failures'])
  expect(assessAll([0, 5, 10, 15], { isFailure: true }, true)).toEqual(['none', 'none', 'none', 'none'])
  expect(assessAll([0, 60, 61, 62], { isFailure: true }, true).at(-1)).toBe('repeated_failures')
})

test('failures and outputs that do not fit demote after 2 low scores, rejections by users after 5', () => {
  const demotedAt = (of: TraceGiven) =>
    assessAll(
      Array.from({ length: 20 }, (_, at) => at * 60),
      of,
      false,
    ).indexOf('low_score')
  const first_low = 2
  expect(demotedAt({ isFailure: true })).toBe(first_low + 1)
  expect(demotedAt({ isMismatch: true })).toBe(first_low + 1)
  expect(demotedAt({ isRejected: true })).toBe(first_low + 4)
})
