// HTTP requests to a hub: limited in time and size, verified against the coalition's authorities, without redirects.
import { readFileSync } from 'node:fs'
import * as http from 'node:http'
import * as https from 'node:https'

export type HubHttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly headers?: Readonly<Record<string, string>>
  readonly text?: string
  readonly signal: AbortSignal
}

/** `retry_ms`: the pause that the hub requests by Retry-After in seconds. */
export type HubHttpResponse = { readonly status: number; readonly text: string; readonly retry_ms?: number }

export type HubHttpClient = {
  /** Rejects when there is no complete answer: the outcome of the request is unknown then. */
  request(url: URL, request_options: HubHttpRequest): Promise<HubHttpResponse>
  /** The answer as it comes in; its end is the caller's to wait for, or to bring about by the signal. */
  openStream(url: URL, request_options: HubHttpRequest): Promise<http.IncomingMessage>
  close(): void
}

/** From the first byte sent to the head of the answer. */
const response_head_timeout_ms = 30_000
/** Between two bytes: a hub says something every 15 seconds, even where it has nothing to say. */
const idle_timeout_ms = 60_000
/** A page of a mailbox, in base64, with one message more than it may hold. */
const max_response_bytes = 32 * 1_048_576

/** Throws when the file of authorities cannot be read. */
export function hubHttpClient(ca_file: string | undefined): HubHttpClient {
  const ca = ca_file === undefined ? {} : { ca: readFileSync(ca_file) }
  const agents = {
    'https:': new https.Agent({ keepAlive: true, maxSockets: 16, ...ca }),
    'http:': new http.Agent({ keepAlive: true, maxSockets: 16 }),
  }
  const open: HubHttpClient['openStream'] = (url, request_options) => sendRequest(url, request_options, agents)
  return {
    openStream: open,
    async request(url, request_options) {
      const answer = await open(url, request_options)
      const { statusCode: status = 0, headers } = answer
      const seconds = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')?.[0]
      const text = await readText(answer)
      return { status, text, ...(seconds === undefined ? {} : { retry_ms: Number(seconds) * 1_000 }) }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

type HubHttpAgents = { readonly 'https:': https.Agent; readonly 'http:': http.Agent }

function sendRequest(url: URL, { method, headers = {}, text, signal }: HubHttpRequest, agents: HubHttpAgents) {
  return new Promise<http.IncomingMessage>((resolve, reject) => {
    const options = { method, headers: withContentLength(headers, text), signal, timeout: idle_timeout_ms }
    const request =
      url.protocol === 'https:'
        ? https.request(url, { ...options, agent: agents['https:'] })
        : http.request(url, { ...options, agent: agents['http:'] })
    const limit = setTimeout(() => request.destroy(new Error('no answer in time')), response_head_timeout_ms)
    request.on('timeout', () => request.destroy(new Error('the hub sent nothing within the time limit')))
    request.on('error', reject)
    request.on('close', () => clearTimeout(limit))
    request.on('response', (answer) => {
      clearTimeout(limit)
      resolve(answer)
    })
    request.end(text)
  })
}

function withContentLength(headers: Readonly<Record<string, string>>, text: string | undefined) {
  return text === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(text)) }
}

async function readText(answer: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > max_response_bytes) throw new Error('the answer is too large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
