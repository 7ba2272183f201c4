// Sends one request to another role of the site, with limits: over its local socket, or by a client of another machine.
import { HttpClient } from '../../../adapters/platform/http-client/http-client.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { Refusal } from '../../kernel/error/errors.ts'
import { abortRefusal } from '../../kernel/operation/until-aborted.ts'

export type SocketRequest = {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON, or '' for no body. */
  readonly text?: string
  /** Longest time without a byte of the response. */
  readonly timeout_ms: number
  /** Ends the request; its service then aborts what it does for it. */
  readonly signal?: AbortSignal | undefined
}

/** `body` is undefined when it is not JSON. */
export type RoleResponse = { readonly status: number; readonly body: unknown }

const max_response_bytes = 16 * 1_048_576
export const max_connections = 256

/** By path: a process sends requests to few sockets, and to each of them often. */
const clients = new Map<string, HttpClient>()

/** Throws `Refusal('unavailable')` without a complete response. */
export async function requestOverSocket(socketPath: string, request: SocketRequest): Promise<RoleResponse> {
  return await sendRoleRequest(findClient(socketPath), 'http://localhost', request)
}

/** Throws as `requestOverSocket` does. `onFailure`: receives the error behind the refusal. */
export async function sendRoleRequest(
  client: HttpClient,
  origin: string,
  request: SocketRequest,
  onFailure?: (error: unknown) => void,
): Promise<RoleResponse> {
  const { method, path, text = '', timeout_ms, signal } = request
  const headers = { ...request.headers, ...(text ? { 'content-type': 'application/json' } : {}) }
  const sent = { method, path, headers, body: text || undefined, signal, limits: { idle_ms: timeout_ms } }
  try {
    const response = await client.send(origin, sent)
    return { status: response.status, body: parseJson(await response.readBytes(max_response_bytes)) }
  } catch (error) {
    if (signal?.aborted) throw abortRefusal(signal)
    onFailure?.(error)
    throw new Refusal('unavailable', 'another role of the site cannot be reached')
  }
}

function findClient(socketPath: string): HttpClient {
  const client = clients.get(socketPath) ?? new HttpClient({ socket_path: socketPath, max_connections })
  clients.set(socketPath, client)
  return client
}
