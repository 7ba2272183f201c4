// The stream on which the client of a session is notified of changes of its lists.
import type { SurfaceRequest, SurfaceResponse, SurfaceStream } from '../../../daemon/kernel/api/surface.ts'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { ServerEvent } from '../../../daemon/kernel/operation/operation.ts'
import { McpSession, type McpSessions } from './mcp-sessions.ts'
import { findSession, rpcError } from './session-request.ts'
import { type ListChanges, watchLists } from './watch-lists.ts'

type SessionStreams = ListChanges & { readonly sessions: McpSessions }

/** A GET: the only stream of a session, on which its client is notified. */
export function openSessionStream(
  context: SessionStreams,
  surfaceRequest: SurfaceRequest,
): SurfaceResponse | SurfaceStream {
  const { headers, caller, method } = surfaceRequest
  const id = headers['mcp-session-id']
  // As the revision without sessions requires; clients of the others take it for a service without notifications.
  if (id === undefined || method === 'HEAD')
    return {
      ...rpcError(405, -32_000, 'only a session has a stream'),
      headers: { 'content-type': 'application/json', allow: 'DELETE, POST' },
    }
  if (!/\btext\/event-stream\b/i.test(headers.accept ?? ''))
    return rpcError(406, -32_000, 'Accept must name text/event-stream')
  const session = findSession(context, surfaceRequest, id)
  if (!(session instanceof McpSession)) return session
  const isOpen = () => context.sessions.find(id, caller) === session
  return { status: 200, headers: {}, events: sessionEvents(context, surfaceRequest, session, isOpen) }
}

async function* sessionEvents(
  context: SessionStreams,
  surfaceRequest: SurfaceRequest,
  session: McpSession,
  isOpen: () => boolean,
): AsyncGenerator<ServerEvent> {
  const signal = AbortSignal.any([surfaceRequest.signal, session.beginStream()])
  // A look at the list is the time to look at the age of the session, too.
  const readmit = async () => (isOpen() ? await surfaceRequest.readmit() : sessionEnded())
  for await (const list of watchLists(context, { readmit }, session, signal))
    yield { event: 'message', data: { jsonrpc: '2.0', method: `notifications/${list}/list_changed` } }
}

const sessionEnded = (): Refusal => refuse('not_found', 'the session has ended')
