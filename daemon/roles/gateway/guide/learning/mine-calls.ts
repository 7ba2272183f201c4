// Guidance by rules from calls of tools: arguments that fail, tools that need another one first, services that need another one first.

import { parseJson } from '../../../../kernel/encoding/parse-json.ts'
import { type CallTrial, type Contrast, type ContrastTerms, findContrasts } from './find-contrasts.ts'
import { formatRate, quoteText } from './hint-text.ts'
import type { MinedArtifact } from './mined-artifact.ts'
import { boundRate, rateOf } from './significance.ts'
import type { ToolCall, TraceRecord } from './trace-record.ts'

/** A call, with the calls of its trace before it. */
type CallInTrace = { readonly call: ToolCall; readonly before: readonly ToolCall[]; readonly trace: TraceRecord }
type CallsByName = ReadonlyMap<string, readonly CallInTrace[]>

const max_trace_ids = 16

/** Deterministic: the same traces in any order give the same drafts. */
export function* mineCalls(traces: readonly TraceRecord[]): Generator<undefined, MinedArtifact[]> {
  const byTool = groupCalls(traces, ({ tool }) => tool)
  const drafts: MinedArtifact[] = []
  for (const [tool, calls] of byTool) drafts.push(...(yield* mineFailures(tool, calls)))
  for (const [tool, calls] of byTool) drafts.push(...(yield* minePairings(tool, calls)))
  const paired = new Set(drafts.flatMap(({ type, content }) => (type === 'ToolPairingHint' ? [content.next_tool] : [])))
  // What a pairing of tools explains is not said again of their services.
  for (const [service, calls] of groupCalls(traces, ({ service }) => service))
    drafts.push(
      ...(yield* mineConnections(
        service,
        calls.filter(({ call }) => !paired.has(call.tool)),
      )),
    )
  return drafts
}

function groupCalls(traces: readonly TraceRecord[], nameOf: (call: ToolCall) => string): CallsByName {
  const groups = new Map<string, CallInTrace[]>()
  for (const trace of traces)
    for (const [at, call] of trace.calls.entries()) {
      const name = nameOf(call)
      const group = groups.get(name) ?? []
      groups.set(name, group)
      group.push({ call, before: trace.calls.slice(0, at), trace })
    }
  return groups
}

const failureTerms: ContrastTerms = { explains: 'present', least_callers: 2 }
function* mineFailures(tool: string, calls: readonly CallInTrace[]): Generator<undefined, MinedArtifact[]> {
  const observed = observe(calls, ({ call }) => ({
    features: Object.entries(call.arguments).map((argument) => JSON.stringify(argument)),
    isHit: call.isFailure,
  }))
  const contrasts = yield* findContrasts(observed, failureTerms)
  return contrasts.map((contrast) => draftFailure(tool, contrast, calls))
}

function draftFailure(tool: string, contrast: Contrast, calls: readonly CallInTrace[]): MinedArtifact {
  const [argument = '', value = ''] = parseJson(contrast.feature) as [string?, string?]
  const failed = calls.filter(({ call }) => call.isFailure && call.arguments[argument] === value)
  const error = mostFrequent(failed.map(({ call }) => call.error))
  const { present, absent } = contrast
  const what = `${quoteText(tool)} with the argument ${quoteText(argument)} set to ${quoteText(value)}`
  const rates = `${formatRate(present)} times; other calls of the tool failed ${formatRate(absent)} times`
  return {
    key: JSON.stringify([tool, argument, value]),
    type: 'FailurePattern',
    ...placeOf(tool),
    content: {
      ...{ tool, argument, value, error, support: present.trials },
      ...{ failure_rate: rateOf(present), baseline_rate: rateOf(absent), confidence: boundRate(present).low },
      advice: `Calls of ${what} failed ${rates}. Choose another value, or expect the error ${quoteText(error)}.`,
    },
    rationale: `Calls of ${what} failed ${rates}.`,
    trace_ids: listTraces(failed),
  }
}

const pairingTerms: ContrastTerms = { explains: 'absent', least_callers: 2 }

function* minePairings(tool: string, calls: readonly CallInTrace[]): Generator<undefined, MinedArtifact[]> {
  const observed = observe(calls, ({ call, before }) => ({
    features: [...new Set(before.flatMap((of) => (of.isFailure || of.tool === tool ? [] : [of.tool])))],
    isHit: !call.isFailure,
  }))
  const contrasts = yield* findContrasts(observed, pairingTerms)
  return contrasts.map((contrast): MinedArtifact => {
    const first = contrast.feature
    const rates = `succeeded ${formatRate(contrast.present)} times after it, and ${formatRate(contrast.absent)} times without it`
    return {
      key: JSON.stringify([first, tool]),
      type: 'ToolPairingHint',
      ...placeOf(tool),
      content: {
        ...ratesOf(contrast),
        ...{ tool: first, next_tool: tool },
        hint: `Call ${quoteText(first)} before ${quoteText(tool)}: ${quoteText(tool)} ${rates}.`,
      },
      rationale: `Calls of ${quoteText(tool)} after a successful call of ${quoteText(first)} ${rates}.`,
      trace_ids: listTraces(calls.filter(({ before }) => before.some((of) => of.tool === first && !of.isFailure))),
    }
  })
}

function* mineConnections(service: string, calls: readonly CallInTrace[]): Generator<undefined, MinedArtifact[]> {
  const observed = observe(calls, ({ call, before }) => ({
    features: [...new Set(before.flatMap((of) => (of.isFailure || of.service === service ? [] : [of.service])))],
    isHit: !call.isFailure,
  }))
  const contrasts = yield* findContrasts(observed, pairingTerms)
  return contrasts.map((contrast): MinedArtifact => {
    const from = contrast.feature
    const rates = `succeeded ${formatRate(contrast.present)} times after it, and ${formatRate(contrast.absent)} times without it`
    return {
      key: JSON.stringify([from, service]),
      type: 'ServiceConnectionHint',
      service_name: service,
      applicability: { tags: [] },
      content: {
        ...ratesOf(contrast),
        ...{ from, to: service },
        hint: `Use ${quoteText(from)} before ${quoteText(service)}: calls of ${quoteText(service)} ${rates}.`,
      },
      rationale: `Calls of the service ${quoteText(service)} after one of ${quoteText(from)} ${rates}.`,
      trace_ids: listTraces(calls.filter(({ before }) => before.some((of) => of.service === from))),
    }
  })
}

function ratesOf({ present, absent }: Contrast) {
  const rates = { support: present.trials, success_rate: rateOf(present), baseline_rate: rateOf(absent) }
  return { ...rates, confidence: boundRate(present).low }
}

type CallFeatures = Pick<CallTrial, 'features' | 'isHit'>

function observe(calls: readonly CallInTrace[], describe: (call: CallInTrace) => CallFeatures): CallTrial[] {
  return calls.map((call) => ({ ...describe(call), caller: call.trace.caller }))
}

function placeOf(tool: string): Pick<MinedArtifact, 'service_name' | 'tool_name' | 'applicability'> {
  const end = tool.indexOf('/')
  return { service_name: tool.slice(0, end), tool_name: tool.slice(end + 1), applicability: { tags: [] } }
}

function listTraces(calls: readonly CallInTrace[]): string[] {
  return [...new Set(calls.map(({ trace }) => trace.trace_id))].slice(-max_trace_ids)
}

/** Ties by the text, so that the order of arrival changes nothing. */
function mostFrequent(texts: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  const [first] = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  return first?.[0] ?? ''
}
