// Answers a message of a conversation: with a model and the tools of the caller, or by the tool catalogue alone.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation, RawResponse, type ServerEvent } from '../../../kernel/operation/operation.ts'
import { preferredMediaType } from '../../../kernel/operation/preferred-media-type.ts'
import { attachGuidance } from '../guide/guidance/attach.ts'
import { classifyIntent } from '../guide/intent/intent-class.ts'
import { observeFailure, observeRequest, observeResponse } from '../guide/observation/observe-chat.ts'
import { guideSettings } from '../guide/settings.ts'
import { chatTurnTotal } from '../metrics.ts'
import { answerOffline } from './answer-offline.ts'
import { openChatTools } from './chat-tools.ts'
import { keepExchange, keepTrace, type OpenConversation, openConversation, ownerOf } from './conversation.ts'
import { converse } from './converse.ts'
import { guardChat } from './guard-chat.ts'
import { type ChatRequest, type ChatResponse, chatRequest, chatResponse } from './model.ts'
import { readOwnGuidance } from './own-guidance.ts'
import { chatPart } from './parts.ts'
import { cutText } from './rules.ts'
import { chatSettings } from './settings.ts'
import { buildSystemPrompt } from './system-prompt.ts'
import { limitTime, type TurnAnswer, type TurnEvents } from './turn.ts'

/** That of the settings, and time to answer after it. */
const time_limit_ms = 600_000

export const send = operation({
  summary: 'Answer a message of a conversation, with the tools that the caller may use',
  method: 'POST',
  path: '/api/v1/chat',
  input: chatRequest,
  output: chatResponse,
  errors: ['not_found', 'rate_limited'],
  allow: 'gateway:chat',
  produces: ['application/json', 'text/event-stream'],
  time_limit_ms,

  async run(call, request) {
    const refused = checkRequest(call, request)
    if (refused) return refused
    const limits = await guardChat(call, request)
    if (isRefusal(limits)) return limits
    const conversation = await openConversation(call, request.conversation_id, {
      owner: ownerOf(call, 'everybody'),
      ceiling: limits.ceiling,
    })
    if (isRefusal(conversation)) return conversation
    const intent = classifyIntent(request.message, request.intent_schema)
    const events = performTurn(call, { request, conversation, ceiling: limits.ceiling, intent })
    const type = preferredMediaType(call.accepts, ['application/json', 'text/event-stream'])
    if (type === 'text/event-stream') return new RawResponse(type, streamTurn(events))
    for (;;) {
      const { done, value } = await events.next()
      if (done) return value
    }
  },
})

/** What the operator does not allow, whatever the message says. */
function checkRequest(call: Call, { model, allow_changes, intent_schema }: ChatRequest): Refusal | undefined {
  const settings = call.settings(chatSettings)
  const allowed = call.part(chatPart).model ? [settings.model, ...settings.models] : []
  if (model !== undefined && !allowed.includes(model)) {
    const names = allowed.length === 0 ? 'this site has no chat model' : `it must be one of ${allowed.join(', ')}`
    return refuse('invalid', 'the model is not allowed', [{ path: 'model', message: names }])
  }
  if (intent_schema === undefined && call.settings(guideSettings).require_intent_schema)
    return refuse('malformed', 'this site needs an intent schema with each message (guide.require_intent_schema)', [
      { path: 'intent_schema', message: 'must be set' },
    ])
  return allow_changes && settings.changes === 'never'
    ? refuse('forbidden', 'the operator of this site does not allow changes by chat (chat.changes)')
    : undefined
}

async function* streamTurn(events: AsyncGenerator<ServerEvent, ChatResponse>): AsyncGenerator<ServerEvent> {
  yield { event: 'response', data: yield* events }
}

type TurnTerms = {
  /** The class of the intent of the message. */
  readonly intent: string
  readonly request: ChatRequest
  readonly conversation: OpenConversation
  readonly ceiling: string | undefined
}

/** The response comes once the exchange is kept. Of a turn that ends before, nothing is kept. */
async function* performTurn(call: Call, terms: TurnTerms): AsyncGenerator<ServerEvent, ChatResponse> {
  const { model } = call.part(chatPart)
  const mode = model ? 'model' : 'offline'
  const { turn_s, max_answer_bytes } = call.settings(chatSettings)
  const limit = limitTime(call, turn_s * 1_000)
  const observed = { conversation_id: terms.conversation.id, ceiling: terms.ceiling }
  let outcome: 'answered' | 'failed' | 'cancelled' = 'cancelled'
  try {
    observeRequest(call, observed, terms.request)
    const answer = yield* startTurn(call, terms, limit.signal)
    const response = cutText(answer.response, max_answer_bytes)
    await keepTurn(call, terms, { ...answer, response })
    outcome = 'answered'
    observeResponse(call, observed, { ...answer, response })
    const { model_used, tokens, tool_calls } = answer
    const { id: conversation_id } = terms.conversation
    const guide_guidance = attachGuidance(call, { scope: 'l1', intent: terms.intent })
    return { response, conversation_id, tool_calls: [...tool_calls], model_used, tokens, guide_guidance }
  } catch (error) {
    outcome = call.signal.aborted ? 'cancelled' : 'failed'
    observeFailure(call, observed, error)
    throw error
  } finally {
    limit.end()
    call.count(chatTurnTotal, { mode, outcome })
  }
}

function startTurn(call: Call, { request, conversation, ceiling, intent }: TurnTerms, signal: AbortSignal): TurnEvents {
  const { model } = call.part(chatPart)
  const tools = openChatTools(call, { ceiling, mayChange: request.allow_changes === true })
  const turn = {
    ...{ call, request, tools, exchanges: conversation.exchanges, signal },
    system: model ? buildSystemPrompt(request, readOwnGuidance(call, ceiling, intent)) : '',
    observed: { conversation_id: conversation.id, ceiling },
  }
  const name = request.model ?? call.settings(chatSettings).model ?? ''
  return model ? converse(turn, model, name) : answerOffline(turn)
}

async function keepTurn(
  call: Call,
  { request: { message }, conversation, ceiling }: TurnTerms,
  { response, model_used, tool_calls }: TurnAnswer,
): Promise<void> {
  const tools = [...new Set(tool_calls.map(({ tool }) => tool))].slice(0, 64)
  const { trace_id } = call.trace
  const terms = { owner: ownerOf(call, 'everybody'), ceiling }
  await keepExchange(call, conversation, { at: call.now(), trace_id, message, response, model_used, tools }, terms)
  await keepTrace(call, conversation.id, terms)
}
