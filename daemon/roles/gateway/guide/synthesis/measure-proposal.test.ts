// Figures of proposals come from the traces: a claim that they do not show has none, whatever a model says.
import { expect, test } from 'vitest'
import type { TraceRecord } from '../learning/trace-record.ts'
import { measureProposal, measureTrajectory } from './measure-proposal.ts'
import type { SynthesisProposal } from './model-answer.ts'

type CallGiven = { readonly tool: string; readonly isFailure?: boolean; readonly format?: string }

let count = 0
function trace(calls: readonly CallGiven[], more: Partial<TraceRecord> = {}): TraceRecord {
  count += 1
  return {
    ...{
      trace_id: `t${count}`,
      conversation_id: '',
      intent_class: 'export_report',
      caller: `user-${count % 3}`,
      words: ['report'],
    },
    ...{ hasFeedback: false, isRejected: false, isSuccess: !calls.at(-1)?.isFailure, ended_ts: 0 },
    calls: calls.map(({ tool, isFailure = false, format }) => ({
      ...{ tool, service: tool.split('/')[0] ?? '', isFailure, error: isFailure ? 'bad format' : '' },
      ...{ arguments: format === undefined ? {} : { format: JSON.stringify(format) }, isMismatch: undefined },
    })),
    ...more,
  }
}
const repeat = (times: number, make: () => TraceRecord) => Array.from({ length: times }, make)
const proposal = (type: string, content: object) => ({ type, content, rationale: 'r' }) as unknown as SynthesisProposal

const failing = [
  ...repeat(6, () => trace([{ tool: 'records/export', isFailure: true, format: 'xml' }])),
  ...repeat(10, () => trace([{ tool: 'records/export', format: 'csv' }])),
]
const pattern = { tool: 'records/export', argument: 'format', value: 'xml', error: 'anything', advice: 'a' }

test('a failing value has the rates, the error and the value of the traces', () => {
  const evidence = measureProposal(proposal('FailurePattern', pattern), failing)
  expect(evidence).toMatchObject({
    ...{ service_name: 'records', tool_name: 'export' },
    content: { value: '"xml"', error: 'bad format', support: 6, failure_rate: 1, baseline_rate: 0 },
  })
  expect(evidence?.trace_ids).toHaveLength(6)
  expect(measureProposal(proposal('FailurePattern', { ...pattern, value: '"xml"' }), failing)).toEqual(evidence)
})

test.each([
  ['a value that does not fail', { ...pattern, value: 'csv' }],
  ['a value that was never seen', { ...pattern, value: 'pdf' }],
  ['a tool that was never called', { ...pattern, tool: 'records/erase' }],
  ['a value without its argument', { ...pattern, argument: undefined }],
  ['a name of every object', { ...pattern, argument: 'constructor', value: 'x' }],
])('%s has none', (_, content) => {
  expect(measureProposal(proposal('FailurePattern', content), failing)).toBeUndefined()
})

test('a value of one person alone has none', () => {
  const ofOne = failing.map((each) => ({ ...each, caller: 'ann' }))
  expect(measureProposal(proposal('FailurePattern', pattern), ofOne)).toBeUndefined()
})

test('an order of tools or services counts where calls succeed more often after the first', () => {
  const traces = [
    ...repeat(4, () => trace([{ tool: 'ledger/begin' }, { tool: 'bank/commit' }])),
    ...repeat(4, () => trace([{ tool: 'bank/commit', isFailure: true }])),
  ]
  const figures = { support: 4, success_rate: 1, baseline_rate: 0 }
  const pair = (tool: string, next_tool: string) =>
    measureProposal(proposal('ToolPairingHint', { tool, next_tool, hint: 'h' }), traces)
  expect(pair('ledger/begin', 'bank/commit')).toMatchObject({
    service_name: 'bank',
    tool_name: 'commit',
    content: figures,
  })
  expect([pair('bank/commit', 'ledger/begin'), pair('evil/collect', 'bank/commit')]).toEqual([undefined, undefined])
  const connect = (from: string, to: string) =>
    measureProposal(proposal('ServiceConnectionHint', { from, to, hint: 'h' }), traces)
  expect(connect('ledger', 'bank')).toMatchObject({ service_name: 'bank', content: figures })
  expect([connect('evil', 'bank'), connect('bank', 'bank')]).toEqual([undefined, undefined])
})

test('a pattern has words that several people use, and a trajectory its steps in order', () => {
  const traces = repeat(5, () => trace([{ tool: 'a/one' }, { tool: 'b/two' }]))
  const [first] = traces
  const secret = [...traces.slice(1), { ...(first as TraceRecord), words: ['report', 'project-zebra'] }]
  const content = {
    intent_class: 'export_report',
    words: ['Report', 'project-zebra', 'invented'],
    operations: ['a/one', 'b/two'],
  }
  expect(measureProposal(proposal('IntentPattern', content), secret)?.content).toEqual({
    words: ['report'],
    support: 5,
  })
  const compaction = { intent_class: 'export_report', steps: ['a/one', 'b/two'], rationale: 'r' }
  expect(measureTrajectory(compaction, traces)?.content).toEqual({ support: 5, success_rate: 1 })
  expect(measureTrajectory({ ...compaction, steps: ['b/two', 'a/one'] }, traces)).toBeUndefined()
  expect(measureTrajectory({ ...compaction, intent_class: 'other' }, traces)).toBeUndefined()
})

test.each(['PromptShim', 'SpecFragment', 'CapabilityMap'])('a text proves nothing: %s', (type) => {
  expect(measureProposal(proposal(type, { body: 'b' }), failing)).toBeUndefined()
})
