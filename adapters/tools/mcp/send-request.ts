// One request to a service and its answer: within its time limit, ended with its stream, and in the form that it has to have.
import type { Client } from '@modelcontextprotocol/client'
import type * as z from 'zod'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import { parseWithSchema } from '../../../daemon/kernel/error/parsing.ts'
import type { RemoteToolCall } from '../../../daemon/kernel/tools/tool-service.ts'
import { startTimeLimit } from '../../platform/time-limit/time-limit.ts'
import { streamEndOfRequest } from './bounded-fetch.ts'
import type { ErrorAnswer } from './error-answer.ts'
import type { StreamEnd } from './filter-events.ts'
import { toolProgress } from './remote-tool-schema.ts'
import { toRefusal } from './to-refusal.ts'
import type { ToolLink } from './tool-link.ts'

/** The library's own limit comes after that of the call: of two at a time, either could be reported as the cause. */
const library_grace_ms = 1_000

/** `name`: of the service, in refusals. */
type ServiceLink = { readonly client: Client; readonly link: Pick<ToolLink, 'withSignal'>; readonly name: string }

export type ListMethod = 'tools/list' | 'resources/list' | 'resources/templates/list'
type RequestMethod = ListMethod | 'tools/call' | 'resources/read'
export type McpRequest = { readonly method: RequestMethod; readonly params: Record<string, unknown> }

/** `instead`: the answer for an error of the service that is one. */
export type SendTerms<U> = Pick<RemoteToolCall, 'cancelled' | 'trace' | 'onProgress'> & {
  readonly instead?: ErrorAnswer<U>
}

/** Throws `Refusal`. A call of a tool may be answered by the input that it requires. */
export async function sendRequest<T, U = never>(
  { client, link, name }: ServiceLink,
  request: McpRequest,
  schema: z.ZodType<T>,
  timeout_ms: number,
  { cancelled, trace = {}, onProgress, instead }: SendTerms<U> = {},
): Promise<T | U> {
  const broken = new AbortController()
  // That of a call which may wait for persons is hours.
  const limit = startTimeLimit(timeout_ms)
  const ending = AbortSignal.any([broken.signal, limit.signal, ...(cancelled ? [cancelled] : [])])
  const timeout = timeout_ms + library_grace_ms
  const options = {
    ...{ signal: ending, timeout, maxTotalTimeout: timeout },
    headers: link.withSignal({ ...trace }, ending),
    ...(request.method === 'tools/call' ? { allowInputRequired: true } : {}),
    ...(onProgress ? { onprogress: (sent: unknown) => reportProgress(onProgress, sent) } : {}),
  }
  try {
    const send = () => client.request<RequestMethod>(request, options)
    const answer: unknown = await streamEndOfRequest.run((end) => breakRequest(broken, end), send)
    return readAnswer(name, schema, answer)
  } catch (error) {
    if (cancelled?.aborted) throw refuse('timeout', 'the call was cancelled by its caller')
    // The end of the request breaks its stream: what came first is the cause.
    if (limit.signal.aborted && ending.reason === limit.signal.reason)
      throw refuse('timeout', `${name} did not answer within ${timeout_ms} ms`)
    if (broken.signal.aborted) throw toRefusal(name, broken.signal.reason)
    if (instead?.isFor(error)) return instead.answer
    throw toRefusal(name, error)
  } finally {
    limit.end()
  }
}

/** A stream that ends without the response ends its request, with the cause: the library would wait for its time limit. */
function breakRequest(request: AbortController, { hasResponse, cause }: StreamEnd): void {
  if (hasResponse) return
  request.abort(cause ?? refuse('unavailable', 'the stream of the service ended before its answer'))
}

function reportProgress(onProgress: NonNullable<RemoteToolCall['onProgress']>, sent: unknown): void {
  const progress = toolProgress.safeParse(sent)
  if (progress.success) onProgress(progress.data)
}

function readAnswer<T>(service: string, schema: z.ZodType<T>, answer: unknown): T {
  const validation = parseWithSchema(schema, answer)
  if (validation.success) return validation.data
  const [first] = validation.errors
  throw refuse('unavailable', `${service} sent what the protocol does not allow: ${first?.path}: ${first?.message}`)
}
