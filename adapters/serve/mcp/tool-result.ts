// Turns the outcome of an operation into a tool result: an object with its text, or the problem document of a refusal.

import type { SurfaceCallResult } from '../../../daemon/kernel/api/surface.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { problemOf } from '../../../daemon/kernel/error/problem.ts'
import { RawResponse } from '../../../daemon/kernel/operation/operation.ts'
import { InputRequiredResult } from '../../../daemon/kernel/tools/client-input.ts'
import { PassedToolResult, type RemoteToolResult } from '../../../daemon/kernel/tools/tool-service.ts'

type TextContent = { type: 'text'; text: string }

export type ToolResult = {
  content: TextContent[]
  structuredContent?: Record<string, unknown>
  isError?: true
}

/** Never a stream: operations that answer with one are not offered as tools. */
export function toToolResult({ outcome, trace }: SurfaceCallResult): ToolResult | PassedInputRequests {
  if (isRefusal(outcome)) return { isError: true, content: [textContent(problemOf(outcome, trace.trace_id))] }
  const { body } = outcome
  if (body instanceof RawResponse) return { content: [{ type: 'text', text: String(body.body) }] }
  if (body instanceof PassedToolResult)
    return body.result instanceof InputRequiredResult ? requireInput(body.result) : passResult(body.result)
  if (body === undefined) return { content: [] }
  if (!isObject(body)) return { content: [textContent(body)] }
  return { content: [textContent(body)], structuredContent: body }
}

/** The library checks them against the abilities that the client has stated. */
type PassedInputRequests = { resultType: 'input_required'; inputRequests: never; requestState?: string }

function requireInput({ requests, state }: InputRequiredResult): PassedInputRequests {
  const given = state === undefined ? {} : { requestState: state }
  return { resultType: 'input_required', inputRequests: requests as never, ...given }
}

/** Blocks of every kind go on as they came: the client checks them, as it would those of the service itself. */
function passResult({ is_error, content, structured_content }: RemoteToolResult): ToolResult {
  return {
    content: [...content] as unknown as TextContent[],
    ...(structured_content ? { structuredContent: { ...structured_content } } : {}),
    ...(is_error ? { isError: true } : {}),
  }
}

function textContent(value: unknown): TextContent {
  return { type: 'text', text: JSON.stringify(value) }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
