// A turn: the way from a message to its response, as events; within a time limit, and ended by its caller at any moment.

import type { Call } from '../../../kernel/operation/call.ts'
import type { ServerEvent } from '../../../kernel/operation/operation.ts'
import { timeoutRefusal } from '../../../kernel/operation/until-aborted.ts'
import type { ObservedTurn } from '../guide/observation/observe-chat.ts'
import type { ChatTools } from './chat-tools.ts'
import type { ChatExchange, ChatRequest, TokenCounts, ToolUse } from './model.ts'

export type Turn = {
  readonly call: Call
  readonly request: ChatRequest
  readonly tools: ChatTools
  /** Earlier ones of the conversation, oldest first. */
  readonly exchanges: readonly ChatExchange[]
  readonly signal: AbortSignal
  readonly observed: ObservedTurn
}

export type TurnAnswer = {
  readonly response: string
  readonly model_used: string
  readonly tokens: TokenCounts
  readonly tool_calls: readonly ToolUse[]
}

/** `delta`: text of the response as it comes. `tool_call`, `tool_result`: before and after the use of a tool. */
export type TurnEvents = AsyncGenerator<ServerEvent, TurnAnswer>

export const textEvent = (text: string): ServerEvent => ({ event: 'delta', data: { text } })

export const callEvent = ({ id, tool, arguments: given }: Pick<ToolUse, 'id' | 'tool' | 'arguments'>): ServerEvent => ({
  event: 'tool_call',
  data: { id, tool, arguments: given },
})

export const resultEvent = ({ id, tool, outcome, detail }: ToolUse): ServerEvent => ({
  event: 'tool_result',
  data: { id, tool, outcome, ...(detail === undefined ? {} : { detail }) },
})

/** A signal that ends with the call, after this time, and with `end`: nothing of a turn outlives it. */
export function limitTime(
  call: Pick<Call, 'signal' | 'wait'>,
  limit_ms: number,
): { readonly signal: AbortSignal; end(): void } {
  const limit = new AbortController()
  const signal = AbortSignal.any([call.signal, limit.signal])
  void call.wait(limit_ms, signal).then(() => limit.abort(timeoutRefusal()))
  return { signal, end: () => limit.abort() }
}
