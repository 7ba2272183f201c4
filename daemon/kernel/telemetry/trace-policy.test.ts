// What a listener makes of the trace header of a request, by its policy.
import { expect, test } from 'vitest'
import { traceOfRequest } from './trace-policy.ts'

const trace_id = '0af7651916cd43dd8448eb211c80319c'
const valid = `00-${trace_id}-b7ad6b7169203331-01`
const random = (bytes: number) => 'e'.repeat(bytes * 2)

test.each([
  ['adopt', { traceparent: valid }, true, undefined],
  ['adopt', {}, false, 'missing_traceparent'],
  ['adopt', { traceparent: '' }, false, 'malformed_traceparent'],
  ['adopt', { traceparent: `${valid}, ${valid}` }, false, 'malformed_traceparent'],
  ['require', { traceparent: valid }, true, undefined],
  ['require', {}, false, 'missing_traceparent'],
  ['require', { traceparent: 'x' }, false, 'malformed_traceparent'],
  ['ignore', { traceparent: valid, tracestate: 'rojo=1' }, false, undefined],
  ['ignore', {}, false, undefined],
] as const)('%s with %o', (mode, headers, isJoined, fault) => {
  const found = traceOfRequest({ mode, header: 'traceparent' }, headers, random)
  expect([found.trace.trace_id === trace_id, found.fault]).toEqual([isJoined, fault])
  if (mode === 'ignore') expect(found.trace.tracestate).toBe('')
})

test('another header can hold the trace', () => {
  const policy = { mode: 'adopt', header: 'x-trace' } as const
  expect(traceOfRequest(policy, { 'x-trace': valid, traceparent: 'x' }, random).trace.trace_id).toBe(trace_id)
  expect(traceOfRequest(policy, { traceparent: valid }, random).fault).toBe('missing_traceparent')
})
