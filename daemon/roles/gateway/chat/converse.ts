// A turn with a model: it answers, or requests tools and sees their results, in a bounded number of rounds.
import { parseJson } from '../../../kernel/encoding/parse-json.ts'
import type { ChatModel, ModelMessage, ModelTokens, ModelToolCall } from '../../../kernel/model/chat-model.ts'
import { abortRefusal } from '../../../kernel/operation/until-aborted.ts'
import type { UntrustedObject } from '../../../kernel/tools/tool-service.ts'
import { observeModelTurn } from '../guide/observation/observe-chat.ts'
import type { ToolOutcome } from './chat-tools.ts'
import type { TokenCounts, ToolUse } from './model.ts'
import { type OfferedTool, offerTools } from './offer-tools.ts'
import { readOwnGuidance } from './own-guidance.ts'
import { cutText } from './rules.ts'
import { chatSettings } from './settings.ts'
import { buildSystemPrompt } from './system-prompt.ts'
import { callEvent, resultEvent, type Turn, type TurnEvents, textEvent } from './turn.ts'

/** Of one turn: a model may request the same tool again and again. */
const max_calls = 64
/** Of the results of one turn together. */
const max_results_bytes = 524_288

export async function* converse(turn: Turn, model: ChatModel, name: string): TurnEvents {
  const { call, signal, request } = turn
  const { max_rounds } = call.settings(chatSettings)
  const offered = await offerTools(turn)
  const messages: ModelMessage[] = [
    { role: 'system', text: buildSystemPrompt(request, readOwnGuidance(call, turn.observed.ceiling)) },
    ...turn.exchanges.flatMap(({ message, response }): ModelMessage[] => [
      { role: 'user', text: message },
      { role: 'assistant', text: response },
    ]),
    { role: 'user', text: request.message },
  ]
  const tools = [...offered.values()].map(({ definition }) => definition)
  const session = new ToolSession(turn, offered)
  let tokens: TokenCounts = {}
  for (let round = 1; ; round += 1) {
    const mayCallTools = round < max_rounds && !session.isSpent
    const prompt = { model: name, messages, tools, mayCallTools, signal, trace: call.trace }
    const started_ms = call.monotonic()
    const answers = model.answer(prompt)
    let step = await answers.next()
    for (; !step.done; step = await answers.next()) yield textEvent(step.value)
    const answer = step.value
    const { text, tool_calls } = answer
    const latency_ms = Math.round(call.monotonic() - started_ms)
    const used = { tools: tool_calls.map((each) => each.name), tokens: answer.tokens, latency_ms }
    observeModelTurn(call, turn.observed, { model: name, round, text, ...used })
    tokens = addTokens(tokens, answer.tokens)
    if (!mayCallTools || answer.tool_calls.length === 0) {
      const response = answer.text === '' ? describeSilence(round, answer.tool_calls.length) : answer.text
      if (answer.text === '') yield textEvent(response)
      return { response, model_used: name, tokens, tool_calls: session.uses }
    }
    messages.push({ role: 'assistant', text: answer.text, tool_calls: answer.tool_calls })
    for (const requested of answer.tool_calls) messages.push(yield* session.use(requested))
  }
}

function describeSilence(rounds: number, calls: number): string {
  return calls > 0 ? `The model came to no answer in ${rounds} rounds of tools.` : 'The model gave no answer.'
}

class ToolSession {
  readonly uses: ToolUse[] = []
  readonly #turn: Turn
  readonly #offered: ReadonlyMap<string, OfferedTool>
  #bytes = 0

  constructor(turn: Turn, offered: ReadonlyMap<string, OfferedTool>) {
    this.#turn = turn
    this.#offered = offered
  }

  /** Whether the model must come to its answer. */
  get isSpent(): boolean {
    return this.uses.length >= max_calls || this.#bytes >= max_results_bytes
  }

  /** The result as the model sees it. What it cannot use is an error that it may correct. */
  async *use(requested: ModelToolCall) {
    const { tools, signal } = this.#turn
    if (signal.aborted) throw abortRefusal(signal)
    const { id } = requested
    const tool = this.#offered.get(requested.name)?.tool.name
    const input = parseArguments(requested.arguments)
    const shown = { id, tool: tool ?? requested.name.slice(0, 256), arguments: { ...input } }
    yield callEvent(shown)
    const fault = this.#findFault(tool, input)
    const outcome: ToolOutcome =
      fault === undefined && tool !== undefined && input
        ? await tools.perform({ id, tool, input }, signal)
        : { use: { ...shown, outcome: 'refused', detail: fault }, text: JSON.stringify({ error: fault }) }
    // A tool that ends with the turn reports the end as its own refusal.
    if (signal.aborted) throw abortRefusal(signal)
    this.uses.push(outcome.use)
    yield resultEvent(outcome.use)
    const text = cutText(outcome.text, Math.max(128, max_results_bytes - this.#bytes))
    this.#bytes += Buffer.byteLength(text)
    return { role: 'tool', tool_call_id: id, text } as const
  }

  #findFault(tool: string | undefined, input: UntrustedObject | undefined): string | undefined {
    if (this.isSpent) return 'no more tools may be called for this message: answer now'
    if (tool === undefined) return 'there is no such tool'
    return input ? undefined : 'the arguments are not a JSON object'
  }
}

/** Models leave them out where a tool needs none. */
function parseArguments(text: string): UntrustedObject | undefined {
  if (text.trim() === '') return {}
  const value = parseJson(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as UntrustedObject) : undefined
}

function addTokens(before: TokenCounts, more: ModelTokens | undefined): TokenCounts {
  if (!more) return before
  const prompt = (before.prompt ?? 0) + more.prompt
  const completion = (before.completion ?? 0) + more.completion
  return { prompt, completion, total: prompt + completion }
}
