// Reads a trace for learning: its calls of tools in order, its intent and its outcome. Nothing that the layer attached is in it.
import { canonicalJson } from '../../../../kernel/encoding/canonical-json.ts'
import { escapeLine } from '../../../../kernel/text/escape-line.ts'
import { shortenText } from '../../../../kernel/text/shorten-text.ts'
import { openOutputMatcher } from '../evaluation/match-output.ts'
import { classOfPrompt, classOfSchema } from '../intent/intent-class.ts'
import type { EventType, StoredObservation } from '../observation/model.ts'
import { authorOf } from '../observation/rules.ts'

/** Calls, arguments and words beyond these are not learnt from, so that no trace weighs more than others. */
const max_calls = 32
const max_arguments = 8
const max_words = 24
/** Longer values differ with each call, and may be documents. */
const max_value = 64
const max_error = 200
const max_name = 200

export type ToolCall = {
  /** `<service>/<tool>`, as in the graphs. */
  readonly tool: string
  readonly service: string
  /** Scalar arguments as JSON, by name. */
  readonly arguments: Readonly<Record<string, string>>
  readonly isFailure: boolean
  readonly error: string
  /** Whether the output of an agent does not fit the intent schema; undefined: of a library, or without a schema. */
  readonly isMismatch: boolean | undefined
}

const feedbackKinds = ['up', 'down', 'correction', 'follow_up', 'abandoned'] as const
type FeedbackKind = (typeof feedbackKinds)[number]
/** Negative feedback of document 002. */
const rejections: ReadonlySet<FeedbackKind> = new Set(['down', 'correction', 'abandoned'])

export type TraceRecord = {
  readonly trace_id: string
  /** Empty: of no chat. */
  readonly conversation_id: string
  /** Empty: unknown. */
  readonly intent_class: string
  readonly caller: string
  readonly words: readonly string[]
  readonly calls: readonly ToolCall[]
  readonly isSuccess: boolean
  readonly hasFeedback: boolean
  /** The user said no: a thumb down, a correction, or an end without an answer. */
  readonly isRejected: boolean
  readonly ended_ts: number
}

/** The parts of an observation that learning reads. */
export type LearnableObservation = Pick<
  StoredObservation,
  'trace_id' | 'event_type' | 'service' | 'timestamp' | 'caller_identity' | 'payload'
> &
  Partial<Pick<StoredObservation, 'conversation_id' | 'emitted_by' | 'create_ts'>>

const no_agents: ReadonlySet<string> = new Set()

/**
 * Observations of one trace, in the order in which they were stored. A trace fails where its last call did, its user said so, or the
 * output of an agent does not fit the intent schema. It belongs to the author of its first observation: events of others under its
 * id, which could turn its outcome, are not part of it. `agents`: names of services of that kind.
 */
export function readTrace(observations: readonly LearnableObservation[], agents = no_agents): TraceRecord {
  const [first] = observations
  const caller = first ? authorOf(first) : ''
  const inOrder = observations.filter((each) => authorOf(each) === caller).toSorted(compareTimes)
  const of = (...types: EventType[]) => inOrder.filter(({ event_type }) => types.includes(event_type))
  const ofTools = of('tool_output', 'tool_error').filter(isOfTool).slice(0, max_calls)
  const schema = of('intent_schema')[0]?.payload.schema
  const matchOutput = openOutputMatcher(schema)
  const calls = ofTools.map((each) => ({
    ...readCall(each),
    isMismatch: agents.has(each.service) ? matchOutput(each) : undefined,
  }))
  const feedback = of('user_feedback').map(readFeedback).at(-1)
  const isRejected = feedback !== undefined && rejections.has(feedback)
  const last = inOrder.at(-1)
  return {
    trace_id: inOrder[0]?.trace_id ?? '',
    conversation_id: of('user_prompt')[0]?.conversation_id ?? '',
    intent_class: readIntent(schema, of('user_prompt')[0]?.payload.prompt),
    caller,
    words: of('user_prompt').flatMap(readWords).slice(0, max_words),
    calls,
    hasFeedback: feedback !== undefined,
    isRejected,
    isSuccess: !(isRejected || calls.at(-1)?.isFailure || calls.some(({ isMismatch }) => isMismatch)),
    // The clock of an emitter may be ahead.
    ended_ts: last ? Math.min(Date.parse(last.timestamp), last.create_ts ?? Number.POSITIVE_INFINITY) : 0,
  }
}

/** Instants of one millisecond differ by further digits. */
function compareTimes(a: LearnableObservation, b: LearnableObservation): number {
  const difference = Date.parse(a.timestamp) - Date.parse(b.timestamp)
  if (difference !== 0 || a.timestamp === b.timestamp) return difference
  return a.timestamp.replace('Z', '') < b.timestamp.replace('Z', '') ? -1 : 1
}

/** Refusals for lack of rights, and limits of the caller, say nothing of a tool. */
const refusalCodes: ReadonlySet<unknown> = new Set(['forbidden', 'unauthenticated', 'rate_limited'])

function isOfTool({ payload }: LearnableObservation): boolean {
  return !refusalCodes.has(payload.code) && isLearnableName(readText(payload.tool))
}

/** Names of tools and arguments are passed on to others: nothing in them may be hidden from a reader, or be more than a name. */
function isLearnableName(name: string): boolean {
  return name !== '' && name.length <= max_name && escapeLine(name) === name
}

function readCall({ service, event_type, payload }: LearnableObservation): Omit<ToolCall, 'isMismatch'> {
  const isFailure = event_type === 'tool_error'
  return {
    tool: `${service}/${readText(payload.tool)}`,
    service,
    arguments: readArguments(payload.inputs),
    isFailure,
    error: isFailure ? readError(payload.error) : '',
  }
}

/** In one line, and without links, which a reader might open, or a model fetch. */
function readError(error: unknown): string {
  const text = readText(error).slice(0, max_value * max_error)
  return escapeLine(shortenText(text.replaceAll(/\b[a-z][a-z0-9+.-]{0,31}:\/\/[^\s<>"]*/gi, '[link]'), max_error))
}

/** Values that may be a secret are left out by the name of their argument. */
const secretName = /pass|secret|token|credential|authorization|api[-_]?key|cookie/i

function readArguments(of: unknown): Record<string, string> {
  if (!isRecord(of)) return {}
  const read: [string, string][] = []
  for (const [name, value] of Object.entries(of)) {
    if (read.length === max_arguments) break
    if (!['string', 'number', 'boolean'].includes(typeof value) || name.length > max_value) continue
    const json = secretName.test(name) || !isLearnableName(name) ? '' : canonicalJson(value)
    if (json !== '' && json.length <= max_value && escapeLine(json) === json) read.push([name, json])
  }
  return Object.fromEntries(read)
}

function readIntent(schema: unknown, prompt: unknown): string {
  const named = isRecord(schema) ? classOfSchema(schema) : undefined
  return named ?? (prompt === undefined ? '' : classOfPrompt(readText(prompt)))
}

function readWords({ payload }: LearnableObservation): string[] {
  const text = readText(payload.prompt).slice(0, 2_048).toLowerCase()
  return [...new Set(text.match(/\p{L}{3,24}/gu) ?? [])]
}

function readFeedback({ payload }: LearnableObservation): FeedbackKind | undefined {
  return feedbackKinds.find((kind) => kind === payload.kind)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
