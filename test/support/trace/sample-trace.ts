// A trace for tests to hand on: the example of the specification, sampled, with the state that another system left.
import type { Trace } from '../../../daemon/kernel/telemetry/trace.ts'

export const sampleTrace: Trace = {
  trace_id: '0af7651916cd43dd8448eb211c80319c',
  span_id: 'b7ad6b7169203331',
  flags: '01',
  tracestate: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
}
