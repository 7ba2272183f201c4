// Sends one request to another role of the site over its local socket, with limits.
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

const max_response_bytes = 16 * 1_048_576
const max_connections = 256

/** By path: a process sends requests to few sockets, and to each of them often. */
const clients = new Map<string, HttpClient>()

/** `body` is undefined when it is not JSON. Throws `Refusal('unavailable')` without a complete response. */
export async function requestOverSocket(
  socketPath: string,
  request: SocketRequest,
): Promise<{ status: number; body: unknown }> {
  const { method, path, text = '', timeout_ms, signal } = request
  const headers = { ...request.headers, ...(text ? { 'content-type': 'application/json' } : {}) }
  const sent = { method, path, headers, body: text || undefined, signal, limits: { idle_ms: timeout_ms } }
  try {
    const response = await findClient(socketPath).send('http://localhost', sent)
    return { status: response.status, body: parseJson(await response.readBytes(max_response_bytes)) }
  } catch {
    if (signal?.aborted) throw abortRefusal(signal)
    throw new Refusal('unavailable', 'another role of the site cannot be reached')
  }
}

function findClient(socketPath: string): HttpClient {
  const client = clients.get(socketPath) ?? new HttpClient({ socket_path: socketPath, max_connections })
  clients.set(socketPath, client)
  return client
}
