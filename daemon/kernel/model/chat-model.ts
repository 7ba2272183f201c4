// A language model that answers a conversation and requests tools: the contract of adapters. All text of a model is untrusted.
import type { Trace } from '../telemetry/trace.ts'
import type { UntrustedObject } from '../tools/tool-service.ts'

/** A tool as a model sees it. */
export type ModelTool = {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string
  readonly description: string
  readonly input_schema: UntrustedObject
}

/** `arguments`: as the model wrote them, which may not be JSON. Ids are unique in one answer. */
export type ModelToolCall = { readonly id: string; readonly name: string; readonly arguments: string }

export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly tool_calls?: readonly ModelToolCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly text: string }

/** `name`: letters, digits, `_` and `-`, at most 64. */
export type ModelAnswerSchema = { readonly name: string; readonly schema: Readonly<Record<string, unknown>> }

export type ModelRequest = {
  readonly model: string
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ModelTool[]
  /** False: the model must answer with text, although it sees tools. */
  readonly mayCallTools: boolean
  /** The text is to be JSON of this JSON Schema. Endpoints that cannot be held to one are requested without it. */
  readonly answer_schema?: ModelAnswerSchema
  readonly signal: AbortSignal
  readonly trace: Trace
}

export type ModelTokens = { readonly prompt: number; readonly completion: number }

export type ModelAnswer = {
  readonly text: string
  readonly tool_calls: readonly ModelToolCall[]
  /** As the endpoint counts them; undefined where it does not. */
  readonly tokens: ModelTokens | undefined
}

export interface ChatModel {
  /**
   * Yields parts of the text as they arrive, and returns the whole answer. Throws `Refusal`: `unavailable` for an endpoint
   * that fails or answers what it should not, `timeout`, or the refusal of the signal.
   */
  answer(request: ModelRequest): AsyncGenerator<string, ModelAnswer>
}
