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
import type { McpTool } from '../../../daemon/kernel/api/mcp-tools.ts'
import type { SurfaceRequest, SurfaceResponse, SurfaceStream } from '../../../daemon/kernel/api/surface.ts'
import { type ClientAbilities, noAbilities } from '../../../daemon/kernel/tools/client-input.ts'
import { answerWithEvents, type CallEvents, readProgressToken, takesEvents } from './call-events.ts'
import { callTool, type ToolCallTerms } from './call-tool.ts'
import { isAnswer, readAbilities } from './client-inputs.ts'
import { McpSession, type McpSessions } from './mcp-sessions.ts'
import { offerResources } from './offer-resources.ts'
import { findSession, rpcError, sessionNotFound } from './session-request.ts'
import { isEventStream, openSubscription } from './subscription.ts'
import { toToolResult } from './tool-result.ts'
import type { ListChanges } from './watch-lists.ts'

export type McpContext = ListChanges & {
  readonly about: { readonly name: string; readonly version: string }
  readonly sessions: McpSessions
  /** The library reported an error; the client has been answered. */
  readonly onError: (error: Error) => void
}

/** Revisions that begin with a handshake, the newest first; the library knows those that do not. */
const handshakeRevisions = ['2025-11-25', '2025-06-18']

const accepted: SurfaceResponse = { status: 202, headers: { 'content-length': '0' }, text: undefined }

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
  return await withEvents(surfaceRequest, noAbilities, async (events) => {
    const handler = createHandler(context, surfaceRequest, { events })
    return await toSurfaceResponse(await handler.fetch(request, { parsedBody: body }))
  })
}

/** `act`: sends messages where the client takes some: reports, or requests for which it has abilities. */
async function withEvents(
  surfaceRequest: SurfaceRequest,
  abilities: ClientAbilities,
  act: (events: CallEvents | undefined) => Promise<SurfaceResponse>,
): Promise<SurfaceResponse | SurfaceStream> {
  const token = readProgressToken(surfaceRequest)
  const isTaken = token !== undefined || Object.keys(abilities).length > 0
  return await (isTaken && takesEvents(surfaceRequest) ? answerWithEvents(token, act) : act(undefined))
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
    reportChange: (list) => (list === 'tools' ? handler.notify.toolsChanged() : handler.notify.resourcesChanged()),
  })
}

function createHandler(context: McpContext, surfaceRequest: SurfaceRequest, terms: ToolCallTerms = {}) {
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
    const id = context.sessions.open(caller, revision, readAbilities(body.params.capabilities))
    return { ...answer, headers: { ...answer.headers, 'mcp-session-id': id } }
  }
  const id = headers['mcp-session-id']
  if (id === undefined) return rpcError(400, -32_000, 'Mcp-Session-Id is missing: a session begins with initialize')
  const session = findSession(context, surfaceRequest, id)
  if (!(session instanceof McpSession)) return session
  // An answer that nobody waits for is one that came too late.
  if (isAnswer(body))
    return session.inputs.answer(body) ? accepted : rpcError(400, -32_600, 'no request waits for this answer')
  return await withEvents(surfaceRequest, session.abilities, (events) =>
    runInSession(session, body, (cancelled) =>
      handleMessage(context, surfaceRequest, request, { cancelled, session, events }),
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
  terms?: ToolCallTerms,
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

function createToolServer(
  { about, catalogue, resources, onError }: McpContext,
  surfaceRequest: SurfaceRequest,
  terms: ToolCallTerms = {},
): Server {
  const server = new Server(about, {
    capabilities: { tools: { listChanged: true }, ...resources.capability },
    supportedProtocolVersions: handshakeRevisions,
    // The list is the caller's own. Its changes are reported to those that listen.
    cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'private' } },
  })
  server.onerror = onError
  server.setRequestHandler('tools/list', () => {
    if (terms.session) terms.session.listed = catalogue.stateFor(surfaceRequest.caller)
    return { tools: catalogue.toolsFor(surfaceRequest.caller).map(describeTool) }
  })
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const find = () => {
      const tool = catalogue.find(params.name)
      if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
      return tool
    }
    const retried = { inputResponses: mcpReq.inputResponses, requestState: mcpReq.requestState() }
    return toToolResult(await callTool(surfaceRequest, find, params.arguments ?? {}, terms, retried))
  })
  if (resources.isOffering)
    offerResources(server, resources, surfaceRequest, { cancelled: terms.cancelled, state: terms.session })
  return server
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
