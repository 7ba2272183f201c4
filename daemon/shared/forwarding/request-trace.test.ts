// The trace of a request: that of the client where it is valid, else one of the edge.
import { expect, test } from 'vitest'
import { buildTracedAnswer, buildTraceHeaders, findForwardTrace, refuseTrace } from './request-trace.ts'

const trace_id = '0af7651916cd43dd8448eb211c80319c'
const valid = `00-${trace_id}-b7ad6b7169203331-01`
const random = (bytes: number) => 'e'.repeat(bytes * 2)

test.each([
  [['Traceparent', valid], 'adopt', true, undefined],
  [['traceparent', valid, 'traceparent', valid], 'adopt', false, undefined],
  [['traceparent', 'x'], 'adopt', false, undefined],
  [[], 'adopt', false, undefined],
  [['traceparent', valid], 'ignore', false, undefined],
  [['traceparent', valid], 'require', true, undefined],
  [['traceparent', 'x'], 'require', false, /traceparent is malformed/],
  [[], 'require', false, /traceparent is missing/],
] as const)('%j with %s', (headers, mode, isJoined, refused) => {
  const policy = { mode, header: 'traceparent' }
  const found = findForwardTrace(headers, policy, random)
  expect([found.isJoined, found.trace.trace_id === trace_id]).toEqual([isJoined, isJoined])
  const refusal = refuseTrace(found, policy)
  if (refused) expect(refusal?.message).toMatch(refused)
  else expect(refusal).toBeUndefined()
})

const adopting = { mode: 'adopt', header: 'traceparent' } as const
const begun = `00-${'e'.repeat(32)}-${'e'.repeat(16)}-02`

test.each([
  ['goes on as it came', ['traceparent', valid, 'tracestate', 'a=b', 'tracestate', 'c=d'], undefined],
  ['loses a malformed state', ['tracestate', 'a=b', 'traceparent', valid, 'tracestate', 'c'], ['traceparent', valid]],
  ['replaces an invalid one', ['traceparent', 'x', 'tracestate', 'a=b'], ['traceparent', begun]],
  ['begins', ['accept', '*/*'], ['accept', '*/*', 'traceparent', begun]],
] as const)('the trace of the headers for the service %s', (_, headers, expected) => {
  const found = findForwardTrace(headers, adopting, random)
  expect(buildTraceHeaders(headers, 'traceparent', found)).toEqual(expected ?? headers)
})

test('with another header for traces, neither replaced name reaches the service', () => {
  const sent = ['x-trace', 'x', 'traceparent', valid, 'tracestate', 'a=b']
  const found = findForwardTrace(sent, { mode: 'adopt', header: 'x-trace' }, random)
  expect(buildTraceHeaders(sent, 'x-trace', found)).toEqual(['x-trace', begun])
})

test.each([
  ['of the client is not repeated', ['traceparent', valid], [], []],
  ['that began here is named', [], ['a', 'traceparent'], ['a', 'traceparent', 'traceparent', begun]],
  ['that the service names is left', [], ['traceparent', valid], ['traceparent', valid]],
] as const)('in the response a trace %s', (_, sent, answer, expected) => {
  const found = findForwardTrace(sent, adopting, random)
  expect(buildTracedAnswer([...answer], 'traceparent', found)).toEqual(expected)
})
