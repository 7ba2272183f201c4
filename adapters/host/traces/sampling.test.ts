// Decisions of each sampler for a sampled parent, an unsampled parent, and no parent.
import { expect, test } from 'vitest'
import type { Trace } from '../../../daemon/kernel/telemetry/trace.ts'
import { createSampler } from './sampling.ts'

const ownTrace: Trace = {
  trace_id: '0af7651916cd43dd8448eb211c80319c',
  span_id: 'b7ad6b7169203331',
  flags: '02',
  tracestate: 'a=b',
}
const joinedTrace = { ...ownTrace, parent_id: '00f067aa0ba902b7' }
const cases: readonly Trace[] = [ownTrace, { ...joinedTrace, flags: '01' }, { ...joinedTrace, flags: '02' }]

test.each([
  ['always_on', 1, ['03', '01', '03']],
  ['always_off', 1, ['02', '00', '02']],
  ['traceidratio', 1, ['03', '01', '03']],
  ['traceidratio', 0, ['02', '00', '02']],
  ['parentbased_always_on', 1, ['03', '01', '02']],
  ['parentbased_always_off', 1, ['02', '01', '02']],
  ['parentbased_traceidratio', 0, ['02', '01', '02']],
] as const)('%s, %d', (name, ratio, flags) => {
  const decide = createSampler(name, ratio)
  expect(cases.map((trace) => decide(trace))).toEqual(cases.map((trace, at) => ({ ...trace, flags: flags[at] })))
})

test('a ratio samples the same traces with and without the parent-based sampler', () => {
  const [plain, parentBased] = [createSampler('traceidratio', 0.25), createSampler('parentbased_traceidratio', 0.25)]
  const traces = Array.from({ length: 4_000 }, (_, at) => {
    const digits = ((at * 2_654_435_761) >>> 0).toString(16).padStart(8, '0')
    return { ...ownTrace, trace_id: `${digits}${'0'.repeat(23)}1` }
  })
  const sampled = traces.filter((trace) => plain(trace).flags === '03')
  expect(sampled).toEqual(traces.filter((trace) => parentBased(trace).flags === '03'))
  expect(Math.abs(sampled.length / traces.length - 0.25)).toBeLessThan(0.05)
})
