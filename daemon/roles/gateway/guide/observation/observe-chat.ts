// Observes the chat: its request, each answer of its model, its response, and feedback; once for each, never for parts of a text.
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { ChatRequest } from '../../chat/model.ts'
import type { TurnAnswer } from '../../chat/turn.ts'
import { gateway_service, observe } from './observe.ts'

export type ObservedTurn = {
  readonly conversation_id: string
  /** The highest level of data of the turn; undefined: that of the caller. */
  readonly ceiling: string | undefined
}

export function observeRequest(call: Call, turn: ObservedTurn, { message, intent_schema, model }: ChatRequest): void {
  const of = { service: gateway_service, ...turn }
  if (intent_schema) observe(call, { ...of, event_type: 'intent_schema', payload: { schema: intent_schema } })
  const named = model === undefined ? {} : { model }
  observe(call, { ...of, event_type: 'user_prompt', payload: { prompt: message, ...named } })
}

export type ModelTurn = {
  readonly model: string
  /** From 1 on. */
  readonly round: number
  readonly text: string
  readonly tools: readonly string[]
  readonly tokens: Readonly<Record<string, number>> | undefined
  readonly latency_ms: number
}

export function observeModelTurn(call: Call, turn: ObservedTurn, answer: ModelTurn): void {
  const { tools, ...payload } = answer
  const event = { event_type: 'llm_turn', payload: { ...payload, tool_calls: tools.length, tools } } as const
  observe(call, { service: gateway_service, ...turn, ...event })
}

export function observeResponse(call: Call, turn: ObservedTurn, answer: TurnAnswer): void {
  const { response, model_used, tokens, tool_calls } = answer
  const tools = tool_calls.map(({ tool, outcome }) => ({ tool, outcome }))
  const payload = { outcome: 'success', response, model_used, tokens, tools }
  observe(call, { service: gateway_service, ...turn, event_type: 'final_response', payload })
}

/** A turn that failed has its error as the response; one that its caller has left is feedback of that caller. */
export function observeFailure(call: Call, turn: ObservedTurn, error: unknown): void {
  const of = { service: gateway_service, ...turn }
  if (call.signal.aborted)
    observe(call, { ...of, event_type: 'user_feedback', payload: { kind: 'abandoned', text: '' } })
  else {
    const code = isRefusal(error) ? error.code : 'internal'
    observe(call, { ...of, event_type: 'final_response', payload: { outcome: 'error', error: code } })
  }
}

export function observeFeedback(
  call: Call,
  { trace_id, kind, text, conversation_id }: Readonly<Record<'trace_id' | 'kind' | 'text' | 'conversation_id', string>>,
): void {
  const event = { event_type: 'user_feedback', payload: { kind, text } } as const
  observe(call, { service: gateway_service, trace_id, conversation_id, ...event })
}
