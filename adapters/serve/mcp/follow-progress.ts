// Progress of a tool, for a client that follows its call: with the first report, the answer becomes a stream.
import type { SurfaceRequest, SurfaceResponse, SurfaceStream } from '../../../daemon/kernel/api/surface.ts'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import type { ServerEvent } from '../../../daemon/kernel/operation/operation.ts'
import type { ToolProgress } from '../../../daemon/kernel/tools/tool-service.ts'

export type ProgressToken = string | number

/** Characters; clients number their calls, or name them by a UUID. */
const max_token = 256

/** Undefined where the client does not follow the call, or takes no stream. */
export function readProgressToken({ body, headers }: SurfaceRequest): ProgressToken | undefined {
  const message = body as { method?: unknown; params?: { _meta?: { progressToken?: unknown } } } | null
  const token = message?.params?._meta?.progressToken
  if (message?.method !== 'tools/call' || !/\btext\/event-stream\b/i.test(headers.accept ?? '')) return undefined
  if (typeof token === 'string') return token.length <= max_token ? token : undefined
  return Number.isSafeInteger(token) ? (token as number) : undefined
}

/** The answer of `act`: as it is without any report, else the last event of a stream of the reports. */
export async function answerWithProgress(
  token: ProgressToken,
  act: (onProgress: (progress: ToolProgress) => void) => Promise<SurfaceResponse>,
): Promise<SurfaceResponse | SurfaceStream> {
  const reports = new LatestReport()
  const answer = act((progress) => reports.put(progress))
  const end = () => reports.end()
  answer.then(end, end)
  await reports.next()
  if (reports.isAtEnd) return await answer
  return { status: 200, headers: {}, events: progressEvents(token, reports, answer) }
}

async function* progressEvents(
  token: ProgressToken,
  reports: LatestReport,
  answer: Promise<SurfaceResponse>,
): AsyncGenerator<ServerEvent> {
  for (;;) {
    const isLast = reports.isAtEnd
    const progress = reports.take()
    if (progress) yield toEvent(token, progress)
    if (isLast) break
    await reports.next()
  }
  yield { event: 'message', data: parseJson((await answer).text ?? 'null') }
}

function toEvent(progressToken: ProgressToken, { progress, total, message }: ToolProgress): ServerEvent {
  const known = { ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) }
  const params = { progressToken, progress, ...known }
  return { event: 'message', data: { jsonrpc: '2.0', method: 'notifications/progress', params } }
}

/**
 * A client that reads slowly gets the last report: others before it say less. The end is a flag, and not a race of promises
 * for each report: those of a tool that reports without pause would stay in memory until its answer.
 */
class LatestReport {
  #latest: ToolProgress | undefined
  isAtEnd = false
  #wake: () => void = () => undefined

  put(progress: ToolProgress): void {
    this.#latest = progress
    this.#wake()
  }

  /** Of the call: no report comes any more. */
  end(): void {
    this.isAtEnd = true
    this.#wake()
  }

  take(): ToolProgress | undefined {
    const latest = this.#latest
    this.#latest = undefined
    return latest
  }

  /** Resolves once there is a report, or the end. */
  async next(): Promise<void> {
    if (this.#latest || this.isAtEnd) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    await promise
  }
}
