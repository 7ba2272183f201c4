// What requests of a session have in common: the session that they name, and the errors without one.
import type { SurfaceRequest, SurfaceResponse } from '../../../daemon/kernel/api/surface.ts'
import type { McpSession, McpSessions } from './mcp-sessions.ts'

/** The caller's session of this id, or the error that answers its request. */
export function findSession(
  { sessions }: { readonly sessions: McpSessions },
  { caller, headers }: SurfaceRequest,
  id: string,
): McpSession | SurfaceResponse {
  const session = sessions.find(id, caller)
  if (!session) return sessionNotFound()
  const revision = headers['mcp-protocol-version'] ?? session.revision
  if (revision === session.revision) return session
  return rpcError(400, -32_000, `MCP-Protocol-Version must be that of the session, ${session.revision}`)
}

export function sessionNotFound(): SurfaceResponse {
  return rpcError(404, -32_001, 'Session not found')
}

/** A JSON-RPC error that answers no request in particular. */
export function rpcError(status: number, code: number, message: string): SurfaceResponse {
  const text = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })
  return { status, headers: json, text }
}

const json = { 'content-type': 'application/json' }
