// The trace of a request: that of the client where it is valid, else one of the edge.
import { expect, test } from 'vitest'
import { findForwardTrace, refuseTrace } from './request-trace.ts'

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
