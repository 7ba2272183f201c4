// Figures of a replay: hits and foreseen failures, effects within sets of artifacts, spans of the curve, delays of detection.
import { expect, test } from 'vitest'
import { seededRandom } from '../../../../../test/support/random/seeded-random.ts'
import { readTrace, type TraceRecord } from '../learning/trace-record.ts'
import { measureDelays } from './drift-delays.ts'
import { EffectStrata } from './effect-strata.ts'
import { findHits } from './find-hits.ts'
import { LearningCurve } from './learning-curve.ts'

type CallOf = { readonly tool: string; readonly inputs?: object; readonly error?: string }

function traceOf(...calls: readonly CallOf[]): TraceRecord {
  return readTrace(
    calls.map(({ tool, inputs = {}, error }, at) => ({
      trace_id: '1'.padStart(32, '0'),
      event_type: error === undefined ? ('tool_output' as const) : ('tool_error' as const),
      service: tool.split('/')[0] ?? '',
      timestamp: new Date(at * 1_000).toISOString(),
      caller_identity: { username: 'ann', roles: [] },
      payload: { tool: tool.split('/')[1], inputs, ...(error === undefined ? {} : { error }) },
    })),
  )
}
const artifact = (type: string, content: Readonly<Record<string, unknown>>) => ({ type, content, applicability: {} })
const argument = artifact('FailurePattern', { tool: 'records/export', argument: 'format', value: '"xml"' })
const order = artifact('ToolPairingHint', { tool: 'ledger/begin', next_tool: 'ledger/commit' })
const failed = { tool: 'records/export', inputs: { format: 'xml' }, error: 'unsupported' }

test('a failure is foreseen where its argument is named, or its missing tool; the tool alone is a hit', () => {
  expect(findHits(traceOf({ tool: 'a/b' }), [argument, order])).toEqual({ calls: 0, failures: 0, foreseen: 0 })
  expect(findHits(traceOf(failed), [argument])).toEqual({ calls: 1, failures: 1, foreseen: 1 })
  const other = { ...failed, inputs: { format: 'csv' } }
  expect(findHits(traceOf(other), [argument])).toEqual({ calls: 1, failures: 1, foreseen: 0 })
  const commit = { tool: 'ledger/commit', error: 'no transaction' }
  expect(findHits(traceOf(commit), [order]).foreseen).toBe(1)
  expect(findHits(traceOf({ tool: 'ledger/begin' }, commit), [order]).foreseen).toBe(0)
  expect(findHits(traceOf(failed), [])).toEqual({ calls: 0, failures: 1, foreseen: 0 })
})

/** `rates`: of success with and without, by whether the task is an easy one; easy tasks are held out seldom. */
function observeArms(strata: EffectStrata, effect: number): void {
  const random = seededRandom(5)
  for (let at = 0; at < 4_000; at += 1) {
    const isEasy = random.happens(0.5)
    const isAttached = !random.happens(isEasy ? 0.1 : 0.6)
    const rate = (isEasy ? 0.8 : 0.2) + (isAttached ? effect : 0)
    const ids = isEasy ? ['one', 'two'] : ['one']
    const arms = ids.map((artifact_id) => ({ artifact_id, isAttached }))
    strata.add(arms, random.happens(rate))
  }
}

test('uplift is compared within sets of artifacts: hard tasks that are held out more often do not look like a benefit', () => {
  const none = new EffectStrata()
  observeArms(none, 0)
  const nothing = none.measureUplift()
  if (!nothing.isMeasurable) throw new Error(nothing.reason)
  expect(nothing.bounds.low).toBeLessThan(0)
  expect(nothing.bounds.high).toBeGreaterThan(0)
  const some = new EffectStrata()
  observeArms(some, 0.2)
  const uplift = some.measureUplift()
  if (!uplift.isMeasurable) throw new Error(uplift.reason)
  expect(uplift.bounds.low).toBeGreaterThan(0.1)
  expect(uplift.bounds.low).toBeLessThan(0.2)
  expect(uplift.bounds.high).toBeGreaterThan(0.2)
})

test('harm is listed first, and nothing is said of an artifact without both sides', () => {
  const strata = new EffectStrata()
  expect(strata.measureUplift()).toEqual({ isMeasurable: false, reason: expect.stringContaining('has no lineage') })
  for (let at = 0; at < 64; at += 1) {
    strata.add([{ artifact_id: 'bad', isAttached: at % 2 === 0 }], at % 2 === 1)
    strata.add([{ artifact_id: 'good', isAttached: at % 2 === 0 }], at % 2 === 0)
    strata.add([{ artifact_id: 'always', isAttached: true }], true)
  }
  expect(strata.listEffects().map(({ artifact_id, verdict }) => [artifact_id, verdict])).toEqual([
    ['bad', 'harm'],
    ['good', 'benefit'],
  ])
  const always = new EffectStrata()
  always.add([{ artifact_id: 'always', isAttached: true }], true)
  expect(always.measureUplift()).toEqual({ isMeasurable: false, reason: expect.stringContaining('hold-out was off') })
})

test('a curve has at most 20 spans, in which every trace is counted once', () => {
  const curve = new LearningCurve()
  for (let at = 0; at < 12_345; at += 1)
    curve.add({ until_ts: at, successes: 1, all_calls: 2, calls: 1, failures: 0, foreseen: 0, artifacts: at })
  const spans = curve.list()
  expect(spans.length).toBeLessThanOrEqual(20)
  expect(spans.length).toBeGreaterThanOrEqual(8)
  expect(spans.reduce((sum, { traces }) => sum + traces, 0)).toBe(12_345)
  expect(spans.reduce((sum, { all_calls }) => sum + all_calls, 0)).toBe(24_690)
  expect(spans.at(-1)).toMatchObject({ until_ts: 12_344, artifacts: 12_344 })
})

test('a change is found by the first detection of its tool before the next change; the others are counted', () => {
  const drift = (source: string, at_ms: number, rule = 'window_divergence') => ({
    source,
    at_ms,
    rule,
    events: at_ms / 10,
  })
  const found = [
    drift('a/b', 50),
    drift('a/b', 150, 'unknown_intent'),
    drift('c/d', 160),
    drift('a/b', 170),
    drift('a/b', 180),
  ]
  const changes = [
    { at_ms: 100, events: 10, tool: 'a/b' },
    { at_ms: 175, events: 18, tool: 'c/d' },
  ]
  expect(measureDelays(changes, found)).toEqual({
    delays: [
      { change: { at_ms: 100, tool: 'a/b' }, found: { rule: 'window_divergence', delay_events: 7, delay_ms: 70 } },
      { change: { at_ms: 175, tool: 'c/d' } },
    ],
    others: 4,
  })
})
