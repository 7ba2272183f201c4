// Performs a tool for a client, with the input that the tool requires of it: the client of a session gets requests while the call
// waits, one without sessions calls again.
import { CLIENT_CAPABILITIES_META_KEY, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { McpTool } from '../../../daemon/kernel/api/mcp-tools.ts'
import type { SurfaceCallResult, SurfaceRequest } from '../../../daemon/kernel/api/surface.ts'
import { isRefusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { timeLimitOf } from '../../../daemon/kernel/operation/operation.ts'
import {
  callContinuation,
  InputRequiredResult,
  max_inputs_of_call,
  type ToolClient,
} from '../../../daemon/kernel/tools/client-input.ts'
import { PassedToolResult } from '../../../daemon/kernel/tools/tool-service.ts'
import { startTimeLimit } from '../../platform/time-limit/time-limit.ts'
import { type CallEvents, type ClientMessage, readProgressToken } from './call-events.ts'
import { readAbilities } from './client-inputs.ts'
import type { McpSession } from './mcp-sessions.ts'
import { readMeta } from './message-meta.ts'

/** `events`: set where the answer may become a stream. `session`: of a revision with sessions. */
export type ToolCallTerms = {
  readonly cancelled?: AbortSignal | undefined
  readonly session?: McpSession | undefined
  readonly events?: CallEvents | undefined
}

/** The input of a client without sessions, as the library has read it. */
export type RetriedInput = { readonly inputResponses?: unknown; readonly requestState?: unknown }

/** `find`: the tool as it is offered now; it throws where it is not any more. */
export async function callTool(
  surfaceRequest: SurfaceRequest,
  find: () => McpTool,
  input: Readonly<Record<string, unknown>>,
  terms: ToolCallTerms,
  retried: RetriedInput,
): Promise<SurfaceCallResult> {
  const { events, session, cancelled } = terms
  const isFollowed = events !== undefined && readProgressToken(surfaceRequest) !== undefined
  const perform = async (client: ToolClient | undefined) => {
    // For each leg: a person may take minutes, in which an administrator withdraws the tool.
    const { target } = find()
    // A request that has become a stream has no time limit of its listener.
    const limit = events && startTimeLimit(timeLimitOf(target.operation), timeoutReason)
    try {
      return await surfaceRequest.perform(target, input, {
        ...readMeta(surfaceRequest),
        cancelled: limit ? anyOf([limit.signal, cancelled]) : cancelled,
        onProgress: isFollowed ? (progress) => events.report(progress) : undefined,
        client,
      })
    } finally {
      limit?.end()
    }
  }
  if (!session) return await perform(readClient(surfaceRequest, retried))
  return await performInSession(session, events, anyOf([surfaceRequest.signal, cancelled]), perform)
}

async function performInSession(
  { abilities, inputs }: McpSession,
  events: CallEvents | undefined,
  cancelled: AbortSignal,
  perform: (client: ToolClient | undefined) => Promise<SurfaceCallResult>,
): Promise<SurfaceCallResult> {
  if (!events) return await perform(undefined)
  let performed = await perform({ abilities })
  let requested = 0
  for (let required = findRequired(performed); required; required = findRequired(performed)) {
    // One at least: a service may require that it is called again, and nothing else.
    requested += Math.max(1, Object.keys(required.requests).length)
    if (requested > max_inputs_of_call)
      return { ...performed, outcome: refuse('unavailable', 'the tool requests too much input') }
    // Also of a call that was cancelled: its service learns of it by the call that goes on.
    const send = (message: ClientMessage) => events.request(message)
    const given = await collectUntilEnd(required, (until) => inputs.collect(required.requests, send, until), cancelled)
    performed = await perform({ abilities, continuation: { ...given, state: required.state } })
  }
  return performed
}

/** A call that ends meanwhile, such as by the withdrawal of its tool, waits for nobody. */
async function collectUntilEnd<T>(
  { held }: InputRequiredResult,
  collect: (until: AbortSignal) => Promise<T>,
  cancelled: AbortSignal,
): Promise<T> {
  const ending = new AbortController()
  void held?.ended.then(() => ending.abort())
  return await collect(AbortSignal.any([cancelled, ending.signal]))
}

function findRequired({ outcome }: SurfaceCallResult): InputRequiredResult | undefined {
  if (isRefusal(outcome) || !(outcome.body instanceof PassedToolResult)) return undefined
  const { result } = outcome.body
  return result instanceof InputRequiredResult ? result : undefined
}

/** A client without sessions states its abilities with each request. Throws `ProtocolError` for input out of bounds. */
function readClient({ body }: SurfaceRequest, { inputResponses, requestState }: RetriedInput): ToolClient {
  const { params } = body as { params?: { _meta?: Record<string, unknown> } }
  const abilities = readAbilities(params?._meta?.[CLIENT_CAPABILITIES_META_KEY])
  if (inputResponses === undefined && requestState === undefined) return { abilities }
  const continuation = callContinuation.safeParse({ responses: inputResponses, state: requestState })
  if (!continuation.success)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'inputResponses or requestState are out of bounds')
  return { abilities, continuation: continuation.data }
}

const timeoutReason = () => new DOMException('the call is over its time limit', 'TimeoutError')

function anyOf(signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined))
}
