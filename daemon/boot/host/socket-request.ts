// One request to another role of the site over its local socket, with limits.

import * as http from 'node:http'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { Refusal } from '../../kernel/error/errors.ts'

export type SocketRequest = {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON, or '' for no body. */
  readonly text?: string
  /** Without a byte, in either direction. */
  readonly timeout_ms: number
}

const max_response_bytes = 16 * 1_048_576

/** `body` is undefined when it is no JSON. Throws `Refusal('unavailable')` when nobody answers, or not in full. */
export function requestOverSocket(
  socketPath: string,
  given: SocketRequest,
): Promise<{ status: number; body: unknown }> {
  const { method, path, text = '', timeout_ms: timeout } = given
  const about = text ? { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) } : {}
  const headers = { ...given.headers, ...about }
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Refusal('unavailable', 'another role of the site cannot be reached'))
    const request = http.request({ socketPath, method, path, headers, timeout }, (answer) => {
      const parts: Buffer[] = []
      let length = 0
      answer.on('data', (part: Buffer) => {
        length += part.length
        if (length > max_response_bytes) request.destroy(new Error('too large'))
        else parts.push(part)
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: parseJson(Buffer.concat(parts)) }))
      answer.on('error', fail)
    })
    request.on('timeout', () => request.destroy(new Error('timeout')))
    request.on('error', fail)
    request.end(text)
  })
}
