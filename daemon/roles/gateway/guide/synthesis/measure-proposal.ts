// Figures for what a model proposes: counted in the traces of its tenant and label, since a model's own figures prove nothing.
import type { ToolCall, TraceRecord } from '../learning/trace-record.ts'
import type { AnswerEntry, SynthesisProposal } from './model-answer.ts'

/** What the traces show of a proposal: its figures, and what the model is not believed. */
export type ProposalEvidence = {
  readonly content: Readonly<Record<string, unknown>>
  readonly trace_ids: readonly string[]
  readonly service_name?: string
  readonly tool_name?: string
}

/** Calls or traces that a proposal needs: fewer are chance. The miners by rules ask for more, since nobody suggests theirs. */
const least_support = 3
/** A value or a word that one person alone uses is not passed on to others. */
const least_callers = 2
const max_trace_ids = 16

type MeasuredCall = { readonly call: ToolCall; readonly before: readonly ToolCall[]; readonly trace: TraceRecord }

/** Undefined: the traces do not show it, or cannot, since it is a text. */
export function measureProposal(
  proposal: SynthesisProposal,
  traces: readonly TraceRecord[],
): ProposalEvidence | undefined {
  switch (proposal.type) {
    case 'FailurePattern':
      return measureFailure(proposal.content, listCalls(traces))
    case 'ToolPairingHint': {
      const { tool, next_tool } = proposal.content
      const after = listCalls(traces).filter(({ call }) => call.tool === next_tool)
      const evidence = measureOrder(after, (of) => of.tool === tool)
      return evidence && { ...evidence, ...placeOf(next_tool) }
    }
    case 'ServiceConnectionHint': {
      const { from, to } = proposal.content
      const after = listCalls(traces).filter(({ call }) => call.service === to)
      const evidence = from === to ? undefined : measureOrder(after, (of) => of.service === from)
      return evidence && { ...evidence, service_name: to }
    }
    case 'IntentPattern':
      return measurePattern(proposal.content, traces)
    default:
      return undefined
  }
}

/** Traces of the intent with these calls in this order. */
export function measureTrajectory(
  { intent_class, steps }: AnswerEntry<'compactions'>,
  traces: readonly TraceRecord[],
): ProposalEvidence | undefined {
  const found = traces.filter((trace) => trace.intent_class === intent_class && hasSteps(trace, steps))
  if (found.length < least_support) return undefined
  const success_rate = found.filter(({ isSuccess }) => isSuccess).length / found.length
  return { content: { support: found.length, success_rate }, trace_ids: idsOf(found) }
}

function listCalls(traces: readonly TraceRecord[]): MeasuredCall[] {
  return traces.flatMap((trace) => trace.calls.map((call, at) => ({ call, before: trace.calls.slice(0, at), trace })))
}

function measureFailure(
  { tool, argument, value }: Extract<SynthesisProposal, { type: 'FailurePattern' }>['content'],
  calls: readonly MeasuredCall[],
): ProposalEvidence | undefined {
  if ((argument === undefined) !== (value === undefined)) return undefined
  const ofTool = calls.filter(({ call }) => call.tool === tool)
  // Models write a text with or without the quotation marks of JSON.
  const isMeant = (json: string | undefined) => json !== undefined && (json === value || json === JSON.stringify(value))
  const present = ofTool.filter(({ call }) => argument === undefined || isMeant(ownValue(call.arguments, argument)))
  const failed = present.filter(({ call }) => call.isFailure)
  if (failed.length < least_support) return undefined
  if (argument !== undefined && new Set(failed.map(({ trace }) => trace.caller)).size < least_callers) return undefined
  const absent = ofTool.filter((each) => !present.includes(each))
  const [failure_rate, baseline_rate] = [rateOf(present, isFailed), rateOf(absent, isFailed)]
  if (failure_rate <= baseline_rate) return undefined
  const known = argument === undefined ? undefined : ownValue(failed[0]?.call.arguments ?? {}, argument)
  return {
    content: {
      ...(known === undefined ? {} : { value: known }),
      ...{ error: failed.at(-1)?.call.error ?? '', support: present.length, failure_rate, baseline_rate },
    },
    trace_ids: idsOf(failed.map(({ trace }) => trace)),
    ...placeOf(tool),
  }
}

const ownValue = (of: Readonly<Record<string, string>>, name: string) =>
  Object.hasOwn(of, name) ? of[name] : undefined

/** Calls with one before them that has succeeded, beside those without. */
function measureOrder(
  calls: readonly MeasuredCall[],
  isFirst: (call: ToolCall) => boolean,
): ProposalEvidence | undefined {
  const after = calls.filter(({ before }) => before.some((call) => !call.isFailure && isFirst(call)))
  const without = calls.filter((each) => !after.includes(each))
  const [success_rate, baseline_rate] = [rateOf(after, isDone), rateOf(without, isDone)]
  if (after.length < least_support || success_rate <= baseline_rate) return undefined
  return {
    content: { support: after.length, success_rate, baseline_rate },
    trace_ids: idsOf(after.map(({ trace }) => trace)),
  }
}

function measurePattern(
  { intent_class, words, operations }: Extract<SynthesisProposal, { type: 'IntentPattern' }>['content'],
  traces: readonly TraceRecord[],
): ProposalEvidence | undefined {
  const ofIntent = traces.filter((trace) => trace.intent_class === intent_class)
  const found = ofIntent.filter((trace) => trace.isSuccess && hasSteps(trace, operations))
  if (found.length < least_support) return undefined
  const callersOf = (word: string) =>
    new Set(ofIntent.flatMap((trace) => (trace.words.includes(word) ? [trace.caller] : []))).size
  const shared = [...new Set(words.map((word) => word.toLowerCase()))].filter(
    (word) => callersOf(word) >= least_callers,
  )
  return { content: { words: shared, support: found.length }, trace_ids: idsOf(found) }
}

/** Whether successful calls of the trace have the steps among them, in this order. */
function hasSteps({ calls }: TraceRecord, steps: readonly string[]): boolean {
  let next = 0
  for (const { tool, isFailure } of calls) if (!isFailure && tool === steps[next]) next += 1
  return next === steps.length
}

const isFailed = ({ call }: MeasuredCall) => call.isFailure
const isDone = ({ call }: MeasuredCall) => !call.isFailure

function rateOf(calls: readonly MeasuredCall[], counts: (call: MeasuredCall) => boolean): number {
  return calls.length === 0 ? 0 : calls.filter(counts).length / calls.length
}

function idsOf(traces: readonly TraceRecord[]): string[] {
  return [...new Set(traces.map(({ trace_id }) => trace_id))].slice(-max_trace_ids)
}

function placeOf(tool: string): Pick<ProposalEvidence, 'service_name' | 'tool_name'> {
  const end = tool.indexOf('/')
  return { service_name: tool.slice(0, end), tool_name: tool.slice(end + 1) }
}
