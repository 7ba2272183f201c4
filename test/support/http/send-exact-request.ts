// One HTTP request exactly as a test words it, on a connection of its own, and the whole answer.
import * as http from 'node:http'

export type ExactRequest = {
  readonly port: number
  /** A local socket, instead of the port. */
  readonly socket?: string | undefined
  readonly method: string
  readonly path: string
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** A text goes out as it is; anything else as JSON with its content type. */
  readonly body?: unknown
  /** Announces a body of this many bytes and sends none: a request refused by its head need not be sent whole. */
  readonly announced_bytes?: number
}

export type ExactResponse = {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
  /** The parsed body; undefined when it is not JSON. */
  readonly json: unknown
}

/** A stream is read no further than its head. */
export function sendExactRequest(sent: ExactRequest): Promise<ExactResponse> {
  const { port, method, path, token, body, announced_bytes } = sent
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  const length = announced_bytes ?? (text === undefined ? undefined : Buffer.byteLength(text))
  const headers: Record<string, string> = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(text !== undefined && typeof body !== 'string' ? { 'content-type': 'application/json' } : {}),
    ...(length === undefined ? {} : { 'content-length': String(length) }),
    ...sent.headers,
  }
  return new Promise((resolve, reject) => {
    const where = sent.socket === undefined ? { host: '127.0.0.1', port } : { socketPath: sent.socket }
    const request = http.request({ ...where, method, path, headers, agent: false }, (answer) => {
      const parts: Buffer[] = []
      const done = () => {
        const whole = Buffer.concat(parts).toString('utf8')
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: whole, json: parseJson(whole) })
        request.destroy()
      }
      if (answer.headers['content-type'] === 'text/event-stream') return done()
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('end', done)
      answer.on('error', reject)
    })
    request.on('error', reject)
    if (announced_bytes === undefined) request.end(text)
    else request.flushHeaders()
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
