// Observes the call of a tool of another service: its input, and its output or its error, with its latency.
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { InputRequiredResult } from '../../../../kernel/tools/client-input.ts'
import { PassedToolResult, type RemoteToolResult, type UntrustedObject } from '../../../../kernel/tools/tool-service.ts'
import { observe } from './observe.ts'

export type ObservedToolCall = {
  readonly service: string
  /** Name of the tool there. */
  readonly tool: string
  readonly input: UntrustedObject
  readonly ceiling: string | undefined
  readonly latency_ms: number
}

/** `answer`: of the service, its refusal, or what the call has thrown. */
export function observeToolCall(call: Call, { ceiling, service, ...used }: ObservedToolCall, answer: unknown): void {
  // A caller that went away says nothing about the tool; a result that requires input is not the last one.
  if (call.signal.aborted) return
  if (answer instanceof PassedToolResult && answer.result instanceof InputRequiredResult) return
  const { tool, input: inputs, latency_ms } = used
  const failure = findFailure(answer)
  observe(call, {
    ...{ service, ceiling, latency_ms, event_type: failure ? 'tool_error' : 'tool_output' },
    payload: { tool, inputs, latency_ms, ...(failure ?? { outputs: outputOf(answer) }) },
  })
}

type ToolFailure = { readonly error: string; readonly code?: string; readonly stack_trace?: string }

function findFailure(answer: unknown): ToolFailure | undefined {
  if (isRefusal(answer)) return { error: answer.message, code: answer.code }
  // Its text may have paths of this machine in it.
  if (answer instanceof Error) return { error: 'the call failed', code: 'internal' }
  if (!(answer instanceof PassedToolResult) || answer.result instanceof InputRequiredResult) return undefined
  return answer.result.is_error ? readError(answer.result) : undefined
}

const stackFields = ['stack_trace', 'stack', 'traceback'] as const

function readError({ content, structured_content: structured = {} }: RemoteToolResult): ToolFailure {
  const texts = content.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  const [stack] = stackFields.flatMap((field) => (typeof structured[field] === 'string' ? [structured[field]] : []))
  const named = [structured.error, structured.message, structured.detail].find((each) => typeof each === 'string')
  const error = texts.join('\n') || String(named ?? 'the tool reported an error')
  return { error, ...(stack === undefined ? {} : { stack_trace: stack }) }
}

function outputOf(answer: unknown): unknown {
  if (!(answer instanceof PassedToolResult) || answer.result instanceof InputRequiredResult) return answer
  const { structured_content, content } = answer.result
  if (structured_content) return structured_content
  return content.map(({ type, text }) => (typeof text === 'string' ? text : `[${String(type).slice(0, 32)}]`))
}
