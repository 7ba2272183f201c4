// One request to another role of the site over its local socket, with limits.
import * as http from 'node:http'
import { Refusal } from '../../kernel/error/errors.ts'

export type SocketRequest = {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON, or '' for no body. */
  readonly text?: string
  /** Longest time without a byte in either direction. */
  readonly timeout_ms: number
}

const max_response_bytes = 16 * 1_048_576

/** `body` is undefined if it is not JSON. Throws `Refusal('unavailable')` without a complete response. */
export function requestOverSocket(
  socketPath: string,
  options: SocketRequest,
): Promise<{ status: number; body: unknown }> {
  const { method, path, text = '', timeout_ms: timeout } = options
  const contentHeaders = text
    ? { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }
    : {}
  const headers = { ...options.headers, ...contentHeaders }
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Refusal('unavailable', 'another role of the site cannot be reached'))
    const request = http.request({ socketPath, method, path, headers, timeout }, (response) => {
      const chunks: Buffer[] = []
      let length = 0
      response.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length > max_response_bytes) request.destroy(new Error('too large'))
        else chunks.push(chunk)
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: parseJson(Buffer.concat(chunks)) }))
      response.on('error', fail)
    })
    request.on('timeout', () => request.destroy(new Error('timeout')))
    request.on('error', fail)
    request.end(text)
  })
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
