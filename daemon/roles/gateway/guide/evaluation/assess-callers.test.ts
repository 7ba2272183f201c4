// No caller demotes an artifact alone; two do, and the traces of one weigh no more than those of all others.
import { expect, test } from 'vitest'
import type { TraceRecord } from '../learning/trace-record.ts'
import { type ArtifactAssessment, assessTrace, first_assessment } from './assess-trace.ts'

const weights = { l3_error: 3, l3_schema_mismatch: 3, user_feedback: 1.5, evaluator_confidence: 0.5 }
const terms = { weights, fast_demotion: 2, isHoldOutEnabled: false, isDecided: false }
const of = { type: 'FailurePattern', content: { tool: 'maps/find', confidence: 0.9 }, applicability: {} }

function fail(caller: string): TraceRecord {
  const call = {
    tool: 'maps/find',
    service: 'maps',
    arguments: {},
    isFailure: true,
    error: 'no',
    isMismatch: undefined,
  }
  return {
    ...{ trace_id: 'a', conversation_id: '', intent_class: '', caller, words: [], calls: [call] },
    ...{ isSuccess: false, hasFeedback: false, isRejected: false, ended_ts: 0 },
  }
}

function assess(callers: readonly string[], isAttached: (at: number) => boolean = () => true) {
  let assessment: ArtifactAssessment = first_assessment
  const results = callers.map((caller, at) => {
    const assessed = assessTrace(assessment, of, { trace: fail(caller), isAttached: isAttached(at) }, terms)
    assessment = assessed.assessment
    return assessed.result
  })
  return { assessment, results }
}

test('failures of one caller are for an administrator to review', () => {
  const { results, assessment } = assess(Array.from({ length: 50 }, () => 'eve'))
  expect(results).not.toContain('low_score')
  expect(results).toContain('repeated_failures')
  expect(assessment.attached.trials).toBe(16)
})

test('failures of two demote it', () => {
  expect(assess(['eve', 'eve', 'eve', 'ann']).results.at(-1)).toBe('low_score')
})

test('beyond its share a caller counts as far as others do', () => {
  const others = Array.from({ length: 20 }, (_, at) => `user-${at}`)
  const { assessment } = assess([...others, ...Array.from({ length: 100 }, () => 'eve')], () => false)
  expect(assessment.held_out.trials).toBe(40)
})

test('a caller who chooses which traces fail proves no harm to what helps all others', () => {
  const others = Array.from({ length: 32 }, (_, at) => ({
    caller: `user-${at % 4}`,
    isSuccess: true,
    isAttached: at % 2 === 0,
  }))
  const own = Array.from({ length: 32 }, (_, at) => ({
    caller: 'eve',
    isSuccess: at % 2 === 1,
    isAttached: at % 2 === 0,
  }))
  const run = (traces: typeof own) => {
    let assessment: ArtifactAssessment = first_assessment
    return traces.map(({ caller, isSuccess, isAttached }) => {
      const trace = { ...fail(caller), isSuccess }
      const assessed = assessTrace(assessment, of, { trace, isAttached }, { ...terms, isHoldOutEnabled: true })
      assessment = assessed.assessment
      return assessed.result
    })
  }
  expect(run([...others, ...own])).not.toContain('harm')
  expect(run(own.map((each, at) => ({ ...each, caller: `user-${at % 4}` })))).toContain('harm')
})
