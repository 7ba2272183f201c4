// Words MCP messages by hand, for both kinds of revision, so that a test says exactly what goes over the wire.
import { type Heard, heard } from '../http-exchange.ts'

export const stateless = '2026-07-28'
const own = 'io.modelcontextprotocol'

/** What each request of the revision without sessions says of itself. */
export const envelope = {
  [`${own}/protocolVersion`]: stateless,
  [`${own}/clientInfo`]: { name: 'test', version: '1' },
  [`${own}/clientCapabilities`]: {},
}

export type Said = {
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Into `_meta`. */
  readonly meta?: Readonly<Record<string, unknown>>
}

/** A POST as every client words it; `body` goes out as it is when it is a text. */
export function post(port: number, body: unknown, { token, headers }: Said = {}): Promise<Heard> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const own = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  return heard({ port, method: 'POST', path: '/agentspace', token, body: text, headers: { ...own, ...headers } })
}

let ids = 0

/** A request of the revision without sessions. */
export function request(
  port: number,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  said: Said = {},
): Promise<Heard> {
  const named = typeof params.name === 'string' ? { 'mcp-name': params.name } : {}
  const headers = { 'mcp-protocol-version': stateless, 'mcp-method': method, ...named, ...said.headers }
  const body = { jsonrpc: '2.0', id: ++ids, method, params: { ...params, _meta: { ...envelope, ...said.meta } } }
  return post(port, body, { ...said, headers })
}

export type CallResult = {
  readonly isError?: boolean
  readonly content: readonly { readonly type: string; readonly text: string }[]
  readonly structuredContent?: Record<string, unknown>
}

/** The result of a tool call; throws with the whole answer when it is none. */
export async function callTool(
  port: number,
  name: string,
  input: Readonly<Record<string, unknown>>,
  said: Said = {},
): Promise<CallResult> {
  const answer = await request(port, 'tools/call', { name, arguments: input }, said)
  const { result } = answer.json as { result?: CallResult }
  if (!result) throw new Error(`${answer.status} ${answer.text}`)
  return result
}

/** Opens a session in a revision that has them; the headers of its requests. */
export async function openSession(port: number, token: string, revision = '2025-11-25') {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const answer = await post(port, { jsonrpc: '2.0', id: 'open', method: 'initialize', params }, { token })
  const id = answer.headers['mcp-session-id']
  if (typeof id !== 'string') throw new Error(`${answer.status} ${answer.text}`)
  return { id, headers: { 'mcp-session-id': id, 'mcp-protocol-version': revision }, answer }
}
