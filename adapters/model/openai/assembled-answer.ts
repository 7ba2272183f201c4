// Assembles the answer of a model from its parts: text, and tool calls by their index, within a bound of bytes.
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import type { ModelAnswer, ModelTokens, ModelToolCall } from '../../../daemon/kernel/model/chat-model.ts'
import { type AnswerChunk, max_tool_calls, type ToolCallPart } from './answer-chunk.ts'

/** Ids go back to the endpoint with the results; others are replaced. */
const idPattern = /^[A-Za-z0-9_.:-]{1,128}$/

type AssembledCall = { id: string; name: string; readonly pieces: string[] }

export class AssembledAnswer {
  readonly #max_bytes: number
  readonly #texts: string[] = []
  readonly #calls: (AssembledCall | undefined)[] = []
  #bytes = 0
  #tokens: ModelTokens | undefined
  /** Whether the model has reported that its answer is complete. */
  isFinished = false

  constructor(max_bytes: number) {
    this.#max_bytes = max_bytes
  }

  /** The text that the part adds. Throws `Refusal('unavailable')` beyond the bound. */
  add({ choices, usage, error }: AnswerChunk): string {
    if (error !== undefined && error !== null) throw refuse('unavailable', 'the chat model reported an error')
    if (usage) this.#tokens = { prompt: usage.prompt_tokens, completion: usage.completion_tokens }
    // One answer is requested: further ones would be mixed into it.
    const [choice] = choices ?? []
    const part = choice?.delta ?? choice?.message
    for (const call of part?.tool_calls ?? []) this.#addCall(call)
    const text = part?.content ?? ''
    this.#count(text)
    if (text !== '') this.#texts.push(text)
    if (choice?.finish_reason) this.isFinished = true
    return text
  }

  get(): ModelAnswer {
    const used = new Set<string>()
    const tool_calls = this.#calls.flatMap((call, at): ModelToolCall[] => {
      if (!call) return []
      const isUsable = idPattern.test(call.id) && !used.has(call.id)
      const id = isUsable ? call.id : findFreeId(used, at)
      used.add(id)
      return [{ id, name: call.name, arguments: call.pieces.join('') }]
    })
    return { text: this.#texts.join(''), tool_calls, tokens: this.#tokens }
  }

  #addCall({ index, id, function: called }: ToolCallPart): void {
    const call = this.#findCall(index ?? undefined, id ?? '')
    const { name, arguments: given } = called ?? {}
    const text = typeof given === 'string' ? given : given ? JSON.stringify(given) : ''
    this.#count(text)
    if (call.id === '' && id) call.id = id
    if (call.name === '' && name) call.name = name
    if (text !== '') call.pieces.push(text)
  }

  /** Without an index, a part with an id of its own begins a call, and any other continues the last one. */
  #findCall(index: number | undefined, id: string): AssembledCall {
    const last = this.#calls.at(-1)
    const at = index ?? (last && (id === '' || id === last.id) ? this.#calls.length - 1 : this.#calls.length)
    if (at >= max_tool_calls) throw refuse('unavailable', `the chat model requested more than ${max_tool_calls} tools`)
    const known = this.#calls[at]
    if (known) return known
    const call: AssembledCall = { id: '', name: '', pieces: [] }
    this.#calls[at] = call
    return call
  }

  #count(text: string): void {
    this.#bytes += Buffer.byteLength(text)
    if (this.#bytes > this.#max_bytes)
      throw refuse('unavailable', `the answer of the chat model has more than ${this.#max_bytes} bytes`)
  }
}

function findFreeId(used: ReadonlySet<string>, at: number): string {
  for (let n = at; ; n += max_tool_calls) if (!used.has(`call_${n}`)) return `call_${n}`
}
