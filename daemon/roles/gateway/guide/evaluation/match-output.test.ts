// Outputs of agents against the intent schema of their trace: never those of libraries, and nothing that was cut.
import { expect, test } from 'vitest'
import { type LearnableObservation, readTrace } from '../learning/trace-record.ts'

const schema = { title: 'Find ships', type: 'object', required: ['ships'] }

const observe = (event_type: LearnableObservation['event_type'], service: string, payload: object) => ({
  ...{ event_type, service, trace_id: '1', timestamp: '2026-03-02T12:00:00Z' },
  ...{ caller_identity: { username: 'ann', roles: [] }, payload: { ...payload } },
})
const mismatchOf = (outputs: unknown, of: { schema?: object; service?: string; type?: 'tool_error' } = {}) => {
  const { schema: given = schema, service = 'pilot', type = 'tool_output' } = of
  const trace = readTrace(
    [observe('intent_schema', 'gateway', { schema: given }), observe(type, service, { tool: 'find', outputs })],
    new Set(['pilot']),
  )
  return [trace.calls[0]?.isMismatch, trace.isSuccess]
}

test('an output of an agent that does not fit is a mismatch, and its trace fails', () => {
  expect(mismatchOf({ ships: [] })).toEqual([false, true])
  expect(mismatchOf({ boats: [] })).toEqual([true, false])
  expect(mismatchOf(['{"ships": []}'])).toEqual([false, true])
  expect(mismatchOf(['no ships today'])).toEqual([true, false])
})

test.each<[string, ReturnType<typeof mismatchOf>]>([
  ['of a library', mismatchOf({ boats: [] }, { service: 'maps' })],
  ['without assertions in the schema', mismatchOf({ boats: [] }, { schema: { intent: 'find ships' } })],
  ['cut', mismatchOf({ boats: 'a long tex[cut]' })],
  ['with more members than are kept', mismatchOf({ boats: [], '[cut]': true })],
  ['with a redacted value', mismatchOf({ boats: '[redacted]' })],
  ['for a schema that was cut', mismatchOf({ boats: [] }, { schema: { ...schema, properties: '[cut]' } })],
])('an output %s is not compared', (_, result) => {
  expect(result).toEqual([undefined, true])
})

test('an emitter cannot claim a mismatch', () => {
  const claimed = observe('tool_output', 'maps', { tool: 'find', outputs: {}, schema_mismatch: true })
  expect(readTrace([claimed], new Set(['maps'])).calls[0]?.isMismatch).toBeUndefined()
})
