// Answers MCP messages with the library, one request at a time: only sessions and open streams are kept between two.
// This file alone loads the library, which a site without AI clients does not need.
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { McpResource } from '../../../daemon/kernel/api/mcp-resources.ts'
import type { McpTool } from '../../../daemon/kernel/api/mcp-tools.ts'
import type { SurfaceRequest, SurfaceResponse, SurfaceStream } from '../../../daemon/kernel/api/surface.ts'
import { timeLimitOf } from '../../../daemon/kernel/operation/operation.ts'
import type { ToolProgress } from '../../../daemon/kernel/tools/tool-service.ts'
import { answerWithProgress, readProgressToken } from './follow-progress.ts'
import { McpSession, type McpSessions } from './mcp-sessions.ts'
import { readMeta } from './message-meta.ts'
import { offerResources } from './offer-resources.ts'
import { findSession, rpcError, sessionNotFound } from './session-request.ts'
import { isEventStream, openSubscription } from './subscription.ts'
import { toToolResult } from './tool-result.ts'
import type { ListedState, ToolChanges } from './watch-tools.ts'

export type McpContext = ToolChanges & {
  readonly about: { readonly name: string; readonly version: string }
  readonly resources: readonly McpResource[]
  readonly sessions: McpSessions
  /** The library reported an error; the client has been answered. */
  readonly onError: (error: Error) => void
}

/** Revisions that begin with a handshake, the newest first; the library knows those that do not. */
const handshakeRevisions = ['2025-11-25', '2025-06-18']

/** Characters; clients number their requests, or name them by a UUID. */
const max_subscription_id = 256

/** A POST: one message, of any supported revision. */
export async function answerMessage(
  context: McpContext,
  surfaceRequest: SurfaceRequest,
): Promise<SurfaceResponse | SurfaceStream> {
  const { body } = surfaceRequest
  if (body === undefined) return rpcError(400, ProtocolErrorCode.ParseError, 'the body must be one JSON-RPC message')
  if (Array.isArray(body)) return rpcError(400, ProtocolErrorCode.InvalidRequest, 'batches are not supported')
  const request = toWebRequest(surfaceRequest)
  if (await isLegacyRequest(request, body)) return await answerWithHandshake(context, surfaceRequest, request)
  if ((body as { method?: unknown } | null)?.method === 'subscriptions/listen')
    return await answerSubscription(context, { ...surfaceRequest, body: undefined }, request, body)
  return await following(surfaceRequest, async (onProgress) => {
    const handler = createHandler(context, surfaceRequest, { onProgress })
    return await toSurfaceResponse(await handler.fetch(request, { parsedBody: body }))
  })
}

type ProgressReceiver = (progress: ToolProgress) => void

/** `act`: reports to the client where it follows the call. */
async function following(
  surfaceRequest: SurfaceRequest,
  act: (onProgress: ProgressReceiver | undefined) => Promise<SurfaceResponse>,
): Promise<SurfaceResponse | SurfaceStream> {
  const token = readProgressToken(surfaceRequest)
  return await (token === undefined ? act(undefined) : answerWithProgress(token, act))
}

/**
 * Answers a subscription. Its stream has no end of its own, and what it refers to stays in memory without a share: not its
 * message, whose id alone is in each notification.
 */
async function answerSubscription(
  context: McpContext,
  surfaceRequest: SurfaceRequest & { readonly body: undefined },
  request: Request,
  message: unknown,
): Promise<SurfaceResponse | SurfaceStream> {
  const { id } = message as { id?: unknown }
  if (typeof id === 'string' && id.length > max_subscription_id)
    return rpcError(
      400,
      ProtocolErrorCode.InvalidRequest,
      `the id of a subscription has ${id.length} characters; at most ${max_subscription_id} are allowed`,
    )
  const handler = createHandler(context, surfaceRequest)
  const response = await handler.fetch(request, { parsedBody: message })
  if (!isEventStream(response)) return await toSurfaceResponse(response)
  return await openSubscription(context, surfaceRequest, {
    response,
    reportChange: () => handler.notify.toolsChanged(),
  })
}

function createHandler(context: McpContext, surfaceRequest: SurfaceRequest, terms: ServerTerms = {}) {
  return createMcpHandler(() => createToolServer(context, surfaceRequest, terms), {
    legacy: 'reject',
    // Streams are kept alive by the listener.
    keepAliveMs: 0,
    onerror: context.onError,
  })
}

/** A DELETE, which ends a session. */
export function endSession({ sessions }: McpContext, { headers, caller }: SurfaceRequest): SurfaceResponse {
  const id = headers['mcp-session-id']
  if (id === undefined) return rpcError(400, -32_000, 'Mcp-Session-Id is missing')
  return sessions.end(id, caller) ? { status: 204, headers: {}, text: undefined } : sessionNotFound()
}

async function answerWithHandshake(
  context: McpContext,
  surfaceRequest: SurfaceRequest,
  request: Request,
): Promise<SurfaceResponse | SurfaceStream> {
  const { body, caller, headers } = surfaceRequest
  if (isInitializeRequest(body)) {
    const answer = await handleMessage(context, surfaceRequest, request)
    const revision = readRevision(answer)
    if (revision === undefined) return answer
    const id = context.sessions.open(caller, revision)
    return { ...answer, headers: { ...answer.headers, 'mcp-session-id': id } }
  }
  const id = headers['mcp-session-id']
  if (id === undefined) return rpcError(400, -32_000, 'Mcp-Session-Id is missing: a session begins with initialize')
  const session = findSession(context, surfaceRequest, id)
  if (!(session instanceof McpSession)) return session
  return await following(surfaceRequest, (onProgress) =>
    runInSession(session, body, (cancelled) =>
      handleMessage(context, surfaceRequest, request, { cancelled, state: session, onProgress }),
    ),
  )
}

/** Lets a later request of the session cancel this one. */
async function runInSession(
  session: McpSession,
  body: unknown,
  act: (cancelled: AbortSignal) => Promise<SurfaceResponse>,
): Promise<SurfaceResponse> {
  const { id, method, params } = body as { id?: string | number; method?: unknown; params?: { requestId?: unknown } }
  const controller = new AbortController()
  if (method === 'notifications/cancelled') session.cancel(params?.requestId)
  if (id === undefined) return await act(controller.signal)
  if (session.running.has(id)) return rpcError(400, ProtocolErrorCode.InvalidRequest, 'a request of this id is running')
  session.running.set(id, controller)
  try {
    return await act(controller.signal)
  } finally {
    session.running.delete(id)
  }
}

/** One request and its response as one JSON document. Without notifications in between, a stream is not needed. */
async function handleMessage(
  context: McpContext,
  surfaceRequest: SurfaceRequest,
  request: Request,
  terms?: ServerTerms,
): Promise<SurfaceResponse> {
  const server = createToolServer(context, surfaceRequest, terms)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await toSurfaceResponse(await transport.handleRequest(request, { parsedBody: surfaceRequest.body }))
  } finally {
    await server.close()
  }
}

/** `cancelled`: aborted when the client cancels the call. `state`: of the list that the session has read. */
type ServerTerms = {
  readonly cancelled?: AbortSignal
  readonly state?: ListedState
  readonly onProgress?: ProgressReceiver | undefined
}

function createToolServer(
  { about, catalogue, resources, onError }: McpContext,
  surfaceRequest: SurfaceRequest,
  { cancelled, state, onProgress }: ServerTerms = {},
): Server {
  const server = new Server(about, {
    capabilities: { tools: { listChanged: true }, ...(resources.length > 0 ? { resources: {} } : {}) },
    supportedProtocolVersions: handshakeRevisions,
    // The list is the caller's own. Its changes are reported to those that listen.
    cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'private' } },
  })
  server.onerror = onError
  server.setRequestHandler('tools/list', () => {
    if (state) state.listed = catalogue.stateFor(surfaceRequest.caller)
    return { tools: catalogue.toolsFor(surfaceRequest.caller).map(describeTool) }
  })
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = catalogue.find(params.name)
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
    const performed = await surfaceRequest.perform(tool.target, params.arguments ?? {}, {
      ...readMeta(surfaceRequest),
      cancelled: onProgress ? withinLimit(tool, cancelled) : cancelled,
      onProgress,
    })
    return toToolResult(performed)
  })
  if (resources.length > 0) offerResources(server, resources, surfaceRequest, cancelled)
  return server
}

/** A request that has become a stream has no time limit of its listener. */
function withinLimit({ target }: McpTool, cancelled: AbortSignal | undefined): AbortSignal {
  const limit = AbortSignal.timeout(timeLimitOf(target.operation))
  return cancelled ? AbortSignal.any([cancelled, limit]) : limit
}

/** A client that waits for less than the time limit of a long tool loses its answer. */
function describeTool({ name, title, description, input_schema, output_schema, annotations, target }: McpTool) {
  const { time_limit_ms } = target.operation
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema: input_schema as { type: 'object' },
    ...(output_schema === undefined ? {} : { outputSchema: output_schema as { type: 'object' } }),
    annotations,
    ...(time_limit_ms === undefined ? {} : { _meta: { 'platform/time-limit-ms': time_limit_ms } }),
  }
}

/** Without a signal: with one, the library would leave a timed-out call unanswered. */
function toWebRequest({ method, path, headers }: SurfaceRequest): Request {
  return new Request(new URL(path, `http://${headers.host}`), { method, headers })
}

async function toSurfaceResponse(response: Response): Promise<SurfaceResponse> {
  const text = await response.text()
  const { 'content-type': type, allow } = Object.fromEntries(response.headers)
  const headers = { ...(type ? { 'content-type': type } : { 'content-length': '0' }), ...(allow ? { allow } : {}) }
  return { status: response.status, headers, text: text === '' ? undefined : text }
}

/** The revision that `initialize` negotiated; undefined when it was refused. */
function readRevision({ status, text = '' }: SurfaceResponse): string | undefined {
  if (status !== 200) return undefined
  const { result } = JSON.parse(text) as { result?: { protocolVersion?: string } }
  return result?.protocolVersion
}
