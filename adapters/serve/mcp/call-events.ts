// Messages to a client while its call runs: reports of progress, and requests for input. With the first of them, the answer
// becomes a stream.
import type { SurfaceRequest, SurfaceResponse, SurfaceStream } from '../../../daemon/kernel/api/surface.ts'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import type { ServerEvent } from '../../../daemon/kernel/operation/operation.ts'
import type { ToolProgress } from '../../../daemon/kernel/tools/tool-service.ts'

export type ProgressToken = string | number

/** Characters; clients number their calls, or name them by a UUID. */
const max_token = 256

/** Undefined where the client does not follow the call. */
export function readProgressToken({ body }: Pick<SurfaceRequest, 'body'>): ProgressToken | undefined {
  const message = body as { params?: { _meta?: { progressToken?: unknown } } } | null
  const token = message?.params?._meta?.progressToken
  if (typeof token === 'string') return token.length <= max_token ? token : undefined
  return Number.isSafeInteger(token) ? (token as number) : undefined
}

/** Whether the answer may become a stream: that of a call of a tool, for a client that takes one. */
export function takesEvents({ body, headers }: Pick<SurfaceRequest, 'body' | 'headers'>): boolean {
  const { method } = (body ?? {}) as { method?: unknown }
  return method === 'tools/call' && /\btext\/event-stream\b/i.test(headers.accept ?? '')
}

/** A message of JSON-RPC. */
export type ClientMessage = Readonly<Record<string, unknown>>

/**
 * A client that reads slowly gets the last report: others before it say less. Requests wait for it, as few as one call may
 * make. The end is a flag, and not a race of promises for each report: those of a tool that reports without pause would stay
 * in memory until its answer.
 */
export class CallEvents {
  #latest: ToolProgress | undefined
  readonly #requests: ClientMessage[] = []
  isAtEnd = false
  #wake: () => void = () => undefined

  report(progress: ToolProgress): void {
    this.#latest = progress
    this.#wake()
  }

  request(message: ClientMessage): void {
    this.#requests.push(message)
    this.#wake()
  }

  /** Of the call: nothing comes any more. */
  end(): void {
    this.isAtEnd = true
    this.#wake()
  }

  /** Everything that waits; reports need the token by which the client follows the call. */
  take(token: ProgressToken | undefined): ClientMessage[] {
    const latest = this.#latest
    this.#latest = undefined
    const reports = latest && token !== undefined ? [progressMessage(token, latest)] : []
    return [...reports, ...this.#requests.splice(0)]
  }

  /** Resolves once there is a message, or the end. */
  async next(): Promise<void> {
    if (this.#latest || this.#requests.length > 0 || this.isAtEnd) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    await promise
  }
}

/** The answer of `act`: as it is without any message before, else the last event of a stream of the messages. */
export async function answerWithEvents(
  token: ProgressToken | undefined,
  act: (events: CallEvents) => Promise<SurfaceResponse>,
): Promise<SurfaceResponse | SurfaceStream> {
  const events = new CallEvents()
  const answer = act(events)
  const end = () => events.end()
  answer.then(end, end)
  await events.next()
  if (events.isAtEnd) return await answer
  return { status: 200, headers: {}, events: messageEvents(token, events, answer) }
}

async function* messageEvents(
  token: ProgressToken | undefined,
  events: CallEvents,
  answer: Promise<SurfaceResponse>,
): AsyncGenerator<ServerEvent> {
  for (;;) {
    const isLast = events.isAtEnd
    for (const data of events.take(token)) yield { event: 'message', data }
    if (isLast) break
    await events.next()
  }
  yield { event: 'message', data: parseJson((await answer).text ?? 'null') }
}

function progressMessage(progressToken: ProgressToken, { progress, total, message }: ToolProgress): ClientMessage {
  const known = { ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) }
  return { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress, ...known } }
}
