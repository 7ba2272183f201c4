// What came of an operation, in the words of a tool result: an object with its text, or the problem document of a refusal.

import type { SurfaceCallResult } from '../../../daemon/kernel/api/surface.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { problemOf } from '../../../daemon/kernel/error/problem.ts'
import { RawResponse } from '../../../daemon/kernel/operation/operation.ts'

type Text = { type: 'text'; text: string }

export type ToolResult = {
  content: Text[]
  structuredContent?: Record<string, unknown>
  isError?: true
}

/** Never a stream: operations that answer with one are no tools. */
export function toolResult({ outcome, trace }: SurfaceCallResult): ToolResult {
  if (isRefusal(outcome)) return { isError: true, content: [text(problemOf(outcome, trace.trace_id))] }
  const { body } = outcome
  if (body instanceof RawResponse) return { content: [{ type: 'text', text: String(body.body) }] }
  if (body === undefined) return { content: [] }
  if (!isObject(body)) return { content: [text(body)] }
  return { content: [text(body)], structuredContent: body }
}

function text(value: unknown): Text {
  return { type: 'text', text: JSON.stringify(value) }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
