// HTTP for the MCP library, bounded: no redirects, answers of strict JSON below a size and a depth, and of a stream only
// the messages that a client can expect. Requests of a service pass on the stream of a call alone, where the call is known.
import { AsyncLocalStorage } from 'node:async_hooks'
import { readStrictJson } from '../../../daemon/kernel/encoding/strict-json.ts'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import type { ToolServiceAddress, ToolServiceLimits } from '../../../daemon/kernel/tools/tool-service.ts'
import { type CheckedDestination, HttpClient } from '../../platform/http-client/http-client.ts'
import type { HttpResponse } from '../../platform/http-client/http-response.ts'
import { filterEvents, type MessageTerms, type StreamEnd } from './filter-events.ts'
import { requireKnownType } from './remote-tool-schema.ts'

export type BoundedFetch = {
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
  close(): void
}

/** Headers of an answer that the library reads. */
const headersRead = ['content-type', 'mcp-session-id', 'www-authenticate'] as const

/** What becomes of the stream of notifications of a session, which is a GET. `onEnd`: also of one that never began. */
export type SessionStream = {
  onBegin(): void
  onRefused(status: number): void
  onEnd(end: StreamEnd): void
}

/**
 * Receives the end of the stream that answers a request of this context: the library passes nothing on by which its
 * request could be found, reports nothing to it, and leaves it to its time limit.
 */
export const streamEndOfRequest = new AsyncLocalStorage<(end: StreamEnd) => void>()

/** `terms`: of the messages that answer requests of this client. */
export function boundedFetch(
  destination: CheckedDestination & Pick<ToolServiceAddress, 'ca'>,
  limits: ToolServiceLimits,
  sessionStream: SessionStream,
  terms: MessageTerms,
): BoundedFetch {
  const http = new HttpClient({ ...destination, max_connections: 16, connect_timeout_ms: limits.answer_ms })
  return {
    close: () => http.close(),
    async fetch(url, init = {}) {
      if (init.method === 'GET') return await openSessionStream(http, url, init, limits, sessionStream)
      const onEnd = streamEndOfRequest.getStore() ?? ignore
      return await toBoundedResponse(await send(http, url, init), limits, onEnd, terms)
    },
  }
}

async function openSessionStream(
  http: HttpClient,
  url: string | URL,
  init: RequestInit,
  limits: ToolServiceLimits,
  { onBegin, onRefused, onEnd }: SessionStream,
): Promise<Response> {
  try {
    const response = await send(http, url, init)
    if (isEventStream(response)) onBegin()
    else onRefused(response.status)
    return await toBoundedResponse(response, limits, onEnd)
  } catch (error) {
    onEnd({ hasResponse: false, cause: error })
    throw error
  }
}

async function send(
  http: HttpClient,
  url: string | URL,
  { method = 'GET', headers, body, signal }: RequestInit,
): Promise<HttpResponse> {
  const response = await http.send(new URL(url), {
    method,
    headers: Object.fromEntries(new Headers(headers)),
    body: body as string | undefined,
    signal: signal ?? undefined,
    limits: {},
  })
  const { status } = response
  if (status < 300 || status >= 400) return response
  response.destroy()
  throw refuse('unavailable', `the service redirects (${status}), which is not followed: use its final URL`)
}

/** `onEnd`: of the stream, if the response is one. */
async function toBoundedResponse(
  response: HttpResponse,
  limits: ToolServiceLimits,
  onEnd: (end: StreamEnd) => void,
  terms?: MessageTerms,
): Promise<Response> {
  const answer = { status: response.status, headers: pickHeaders(response) }
  if (!isEventStream(response)) return new Response(await readWhole(response, limits, terms), answer)
  const events = ReadableStream.from(filterEvents(response.chunks(), limits, onEnd, terms))
  return new Response(events as ReadableStream<Uint8Array>, answer)
}

const ignore = () => undefined

function pickHeaders(response: HttpResponse): Headers {
  const picked = new Headers()
  for (const name of headersRead) {
    const value = response.header(name)
    if (value !== undefined) picked.set(name, value)
  }
  return picked
}

function isEventStream(response: HttpResponse): boolean {
  return response.status === 200 && /^text\/event-stream\b/i.test(response.header('content-type') ?? '')
}

/** The body, or null where the status has none. A body that says it is JSON must be. */
async function readWhole(
  response: HttpResponse,
  { answer_bytes, depth }: ToolServiceLimits,
  terms: MessageTerms | undefined,
): Promise<Buffer | null> {
  const bytes = await response.readBytes(answer_bytes)
  if (response.status === 204 || bytes.length === 0) return null
  if (!/^application\/json\b/i.test(response.header('content-type') ?? '')) return bytes
  const read = readStrictJson(bytes, { max_depth: depth })
  if (read.outcome !== 'value')
    throw refuse('unavailable', `the answer of the service is not JSON within ${depth} levels: ${read.outcome}`)
  requireKnownType(read.value, terms?.isInputRequirable() ?? false)
  return bytes
}
