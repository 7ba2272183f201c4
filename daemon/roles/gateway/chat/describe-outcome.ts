// The outcome of a tool as text for a model or a person: within a bound of bytes, a refusal with its reasons.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { RawResponse } from '../../../kernel/operation/operation.ts'
import type { OperationResponse } from '../../../kernel/operation/role-context.ts'
import { InputRequiredResult } from '../../../kernel/tools/client-input.ts'
import { PassedToolResult, type RemoteToolResult } from '../../../kernel/tools/tool-service.ts'
import { cutText } from './rules.ts'

export type DescribedOutcome = { readonly text: string; readonly isError: boolean }

export function describeOutcome(outcome: OperationResponse | Refusal, max_bytes: number): DescribedOutcome {
  if (isRefusal(outcome)) {
    const { code, message, errors } = outcome
    const text = JSON.stringify({ error: code, detail: message, ...(errors.length > 0 ? { errors } : {}) })
    return { text: cutText(text, max_bytes), isError: true }
  }
  const { body } = outcome
  if (body instanceof PassedToolResult) {
    const { result } = body
    if (result instanceof InputRequiredResult) return { text: 'the tool requires input of its client', isError: true }
    return { text: cutText(describeResult(result), max_bytes), isError: result.is_error }
  }
  // Never a stream: operations that answer with one are not offered as tools.
  const text = body instanceof RawResponse ? String(body.body) : JSON.stringify(body ?? null)
  return { text: cutText(text, max_bytes), isError: false }
}

/** Blocks that are not text, such as pictures, are named by their kind. */
function describeResult({ content, structured_content }: RemoteToolResult): string {
  if (structured_content) return JSON.stringify(structured_content)
  return content
    .map(({ type, text }) => (typeof text === 'string' ? text : `[${String(type).slice(0, 32)}]`))
    .join('\n')
}
