// Decides which traces are exported: by the trace id and the caller's decision, so that all processes of a trace decide alike.
import { ROOT_CONTEXT, SpanKind, TraceFlags, trace as traces } from '@opentelemetry/api'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import type { samplers } from '../../../daemon/kernel/settings/trace-settings.ts'
import type { Trace } from '../../../daemon/kernel/telemetry/trace.ts'

type SamplerName = (typeof samplers)[number]

const samplerFactories: Readonly<Record<SamplerName, (share: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (share) => new TraceIdRatioBasedSampler(share),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (share) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
}

/** Answers the trace with the decision in its flags. */
export function createSampler(name: SamplerName, share: number): (trace: Trace) => Trace {
  const sampler = samplerFactories[name](share)
  return (trace) => {
    const { decision } = sampler.shouldSample(parentContext(trace), trace.trace_id, '', SpanKind.SERVER, {}, [])
    const isSampled = decision === SamplingDecision.RECORD_AND_SAMPLED
    const others = Number.parseInt(trace.flags, 16) & ~TraceFlags.SAMPLED
    const flags = others | (isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE)
    return { ...trace, flags: flags.toString(16).padStart(2, '0') }
  }
}

function parentContext({ trace_id, parent_id, flags }: Trace) {
  if (parent_id === undefined) return ROOT_CONTEXT
  const parent = { traceId: trace_id, spanId: parent_id, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return traces.setSpanContext(ROOT_CONTEXT, parent)
}
