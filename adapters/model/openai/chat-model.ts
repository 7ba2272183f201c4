// Chat models behind an OpenAI-compatible endpoint: `/chat/completions`, streamed, bounded in time and size, without redirects.
import { setImmediate as pause } from 'node:timers/promises'
import { EventBlocks, readEventField } from '../../../daemon/kernel/encoding/event-blocks.ts'
import { parseJsonAs } from '../../../daemon/kernel/encoding/parse-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { ChatModel, ModelAnswer, ModelRequest } from '../../../daemon/kernel/model/chat-model.ts'
import { abortRefusal } from '../../../daemon/kernel/operation/until-aborted.ts'
import { traceparentOf } from '../../../daemon/kernel/telemetry/trace.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'
import type { HttpResponse } from '../../platform/http-client/http-response.ts'
import { answerChunk } from './answer-chunk.ts'
import { AssembledAnswer } from './assembled-answer.ts'
import { formatRequest } from './format-request.ts'

export type ChatModelOptions = {
  /** `/chat/completions` is added to it. */
  readonly url: string
  readonly api_key: string | undefined
  readonly rule: AddressRule
  /** Authorities in PEM instead of the machine's. */
  readonly ca: string | undefined
  /** To the head of an answer, and between two of its parts. */
  readonly answer_ms: number
  /** Of text and arguments of one answer. */
  readonly max_answer_bytes: number
  /** That the model may write for one answer. */
  readonly max_tokens: number
}

/** Of one event: a token or a few, in some hundred bytes. */
const max_event_bytes = 1_048_576
/** Each token comes in an event: this much for each byte of an answer, and for what is thrown away. */
const wire_bytes_per_byte = 512
const min_wire_bytes = 1_048_576
/** Events between two turns of the event loop: well below a millisecond. */
const events_per_turn = 64

export function openAiChatModel(options: ChatModelOptions): ChatModel {
  const { rule, ca, answer_ms } = options
  const client = new HttpClient({ rule, ca, connect_timeout_ms: answer_ms })
  const endpoint = { client, takesSchema: true }
  return {
    async *answer(request) {
      try {
        const response = await send(endpoint, options, request)
        return yield* readAnswer(response, options)
      } catch (error) {
        throw describeFailure(error, options, request.signal)
      }
    },
  }
}

/** `takesSchema` false: it has refused a request with a schema of the answer, and taken the same one without. */
type SchemaEndpoint = { readonly client: HttpClient; takesSchema: boolean }

async function send(endpoint: SchemaEndpoint, options: ChatModelOptions, request: ModelRequest): Promise<HttpResponse> {
  const { answer_schema, ...plain } = request
  if (!answer_schema || !endpoint.takesSchema) return checkStatus(await post(endpoint, options, plain))
  const response = await post(endpoint, options, request)
  if (!schemaRefusals.has(response.status)) return checkStatus(response)
  response.destroy()
  const again = checkStatus(await post(endpoint, options, plain))
  endpoint.takesSchema = false
  return again
}

/** Of endpoints that do not know `response_format`; they answer the same to a conversation that is too long. */
const schemaRefusals: ReadonlySet<number> = new Set([400, 422])

async function post(
  { client }: SchemaEndpoint,
  options: ChatModelOptions,
  request: ModelRequest,
): Promise<HttpResponse> {
  const { url, api_key, answer_ms, max_tokens } = options
  return await client.send(`${url.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    headers: {
      accept: 'text/event-stream, application/json',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      traceparent: traceparentOf(request.trace),
      ...(api_key === undefined ? {} : { authorization: `Bearer ${api_key}` }),
    },
    body: formatRequest(request, max_tokens),
    signal: request.signal,
    limits: { head_ms: answer_ms, idle_ms: answer_ms },
  })
}

function checkStatus(response: HttpResponse): HttpResponse {
  if (response.status === 200) return response
  // Its text stays unread: an endpoint may repeat the key in it.
  response.destroy()
  throw refuse('unavailable', `the chat model answered ${response.status}${statusHints[response.status] ?? ''}`)
}

const statusHints: Readonly<Record<number, string>> = {
  400: ': it does not take this request, or the conversation is too long for it',
  401: ': it does not accept the key of this site (chat.api_key)',
  403: ': it does not accept the key of this site (chat.api_key)',
  404: ': check chat.model_url and the name of the model',
  429: ': it has too many requests',
}

async function* readAnswer(response: HttpResponse, options: ChatModelOptions): AsyncGenerator<string, ModelAnswer> {
  const type = response.header('content-type') ?? ''
  if (/^text\/event-stream\b/i.test(type)) return yield* readStream(response, options)
  if (/^application\/json\b/i.test(type)) return yield* readWhole(response, options)
  response.destroy()
  throw refuse('unavailable', 'the answer of the chat model is neither an event stream nor JSON')
}

const wireBytes = ({ max_answer_bytes }: ChatModelOptions) => min_wire_bytes + wire_bytes_per_byte * max_answer_bytes

async function* readStream(response: HttpResponse, options: ChatModelOptions): AsyncGenerator<string, ModelAnswer> {
  const assembled = new AssembledAnswer(options.max_answer_bytes)
  const blocks = new EventBlocks()
  let [bytes, events] = [0, 0]
  for await (const chunk of response.chunks()) {
    bytes += chunk.length
    if (bytes > wireBytes(options)) throw refuse('unavailable', 'the chat model sends without end')
    for (const block of blocks.split(chunk)) {
      events += 1
      if (events % events_per_turn === 0) await pause()
      const data = readEventField(block.toString(), 'data').join('\n')
      if (data === '[DONE]') return assembled.get()
      const text = data === '' ? '' : assembled.add(parseChunk(data))
      if (text !== '') yield text
    }
    if (blocks.pending_bytes > max_event_bytes)
      throw refuse('unavailable', `the chat model sent an event of more than ${max_event_bytes} bytes`)
  }
  if (assembled.isFinished) return assembled.get()
  throw refuse('unavailable', 'the chat model ended in the middle of its answer')
}

/** Of an endpoint that does not stream. */
async function* readWhole(response: HttpResponse, options: ChatModelOptions): AsyncGenerator<string, ModelAnswer> {
  const assembled = new AssembledAnswer(options.max_answer_bytes)
  const text = assembled.add(parseChunk(await response.readBytes(max_event_bytes + 2 * options.max_answer_bytes)))
  if (!assembled.isFinished) throw refuse('unavailable', 'the answer of the chat model has no end')
  if (text !== '') yield text
  return assembled.get()
}

function parseChunk(json: string | Buffer) {
  const chunk = parseJsonAs(answerChunk, json)
  if (!chunk) throw refuse('unavailable', 'the answer of the chat model is not one of /chat/completions')
  return chunk
}

/** Without the address, and without any text of the endpoint. */
function describeFailure(error: unknown, { answer_ms }: ChatModelOptions, signal: AbortSignal): unknown {
  if (isRefusal(error)) return error
  if (signal.aborted) return abortRefusal(signal)
  return error instanceof HttpClientError ? describeHttpFailure(error, answer_ms) : error
}

function describeHttpFailure({ failure, code }: HttpClientError, answer_ms: number): Refusal {
  if (failure === 'timeout' || failure === 'idle')
    return refuse('timeout', `the chat model sent nothing for ${answer_ms / 1_000} s`)
  if (failure === 'broken_off') return refuse('unavailable', 'the chat model ended in the middle of its answer')
  if (failure === 'too_large') return refuse('unavailable', 'the answer of the chat model is too large')
  return refuse('unavailable', `the chat model cannot be reached (${code ?? failure})`)
}
