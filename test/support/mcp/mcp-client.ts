// Words MCP messages by hand, for both kinds of revision, so that a test says exactly what goes over the wire.
import { type ExactResponse, sendExactRequest } from '../http/send-exact-request.ts'

export const statelessRevision = '2026-07-28'
const metaPrefix = 'io.modelcontextprotocol'

/** The description of itself that each request of the revision without sessions holds. */
export const requestMeta = {
  [`${metaPrefix}/protocolVersion`]: statelessRevision,
  [`${metaPrefix}/clientInfo`]: { name: 'test', version: '1' },
  [`${metaPrefix}/clientCapabilities`]: {},
}

export type McpRequestOptions = {
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Into `_meta`. */
  readonly meta?: Readonly<Record<string, unknown>>
}

/** A POST as every client words it; `body` goes out as it is when it is a text. */
export function postMcp(
  port: number,
  body: unknown,
  { token, headers }: McpRequestOptions = {},
): Promise<ExactResponse> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const own = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  return sendExactRequest({
    port,
    method: 'POST',
    path: '/agentspace',
    token,
    body: text,
    headers: { ...own, ...headers },
  })
}

let lastRequestId = 0

/** A request of the revision without sessions. */
export function sendMcpRequest(
  port: number,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  options: McpRequestOptions = {},
): Promise<ExactResponse> {
  const named = typeof params.name === 'string' ? { 'mcp-name': params.name } : {}
  const headers = { 'mcp-protocol-version': statelessRevision, 'mcp-method': method, ...named, ...options.headers }
  const body = {
    jsonrpc: '2.0',
    id: ++lastRequestId,
    method,
    params: { ...params, _meta: { ...requestMeta, ...options.meta } },
  }
  return postMcp(port, body, { ...options, headers })
}

export type ToolCallResult = {
  readonly isError?: boolean
  readonly content: readonly { readonly type: string; readonly text: string }[]
  readonly structuredContent?: Record<string, unknown>
}

/** The result of a tool call; throws with the whole answer when it is none. */
export async function callTool(
  port: number,
  name: string,
  input: Readonly<Record<string, unknown>>,
  options: McpRequestOptions = {},
): Promise<ToolCallResult> {
  const answer = await sendMcpRequest(port, 'tools/call', { name, arguments: input }, options)
  const { result } = answer.json as { result?: ToolCallResult }
  if (!result) throw new Error(`${answer.status} ${answer.text}`)
  return result
}

/** Opens a session in a revision that has them; the headers of its requests. */
export async function openMcpSession(port: number, token: string, revision = '2025-11-25') {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const answer = await postMcp(port, { jsonrpc: '2.0', id: 'open', method: 'initialize', params }, { token })
  const id = answer.headers['mcp-session-id']
  if (typeof id !== 'string') throw new Error(`${answer.status} ${answer.text}`)
  return { id, headers: { 'mcp-session-id': id, 'mcp-protocol-version': revision }, answer }
}
