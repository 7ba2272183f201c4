// HTTP requests to a hub: limited in time and size, verified against the coalition's authorities, without redirects.
import { readFileSync } from 'node:fs'
import { anyAddress } from '../../platform/address-rule/address-rule.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import type { HttpResponse } from '../../platform/http-client/http-response.ts'

export type HubHttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly headers?: Readonly<Record<string, string>>
  readonly text?: string
  readonly signal: AbortSignal
}

/** `retry_ms`: the pause that the hub requests by Retry-After in seconds. */
export type HubHttpResponse = { readonly status: number; readonly text: string; readonly retry_ms?: number }

export type HubHttpClient = {
  /** Rejects without a complete response: the outcome of the request is then unknown. */
  request(url: URL, request_options: HubHttpRequest): Promise<HubHttpResponse>
  /** The answer as it comes in; its end is the caller's to wait for, or to bring about by the signal. */
  openStream(url: URL, request_options: HubHttpRequest): Promise<HttpResponse>
  close(): void
}

/** From the request to the head of the answer. */
const response_head_timeout_ms = 30_000
/** Between two bytes: a hub says something every 15 seconds, even where it has nothing to say. */
const idle_timeout_ms = 60_000
/** A page of a mailbox, in base64, with one message more than it may hold. */
const max_response_bytes = 32 * 1_048_576
const max_connections = 16

/** Throws when the file of authorities cannot be read. */
export function hubHttpClient(ca_file: string | undefined): HubHttpClient {
  const ca = ca_file === undefined ? undefined : readFileSync(ca_file)
  const client = new HttpClient({ rule: anyAddress, max_connections, ca })
  const limits = { head_ms: response_head_timeout_ms, idle_ms: idle_timeout_ms }
  const open: HubHttpClient['openStream'] = (url, { method, headers, text, signal }) =>
    client.send(url, { method, ...(headers ? { headers } : {}), body: text, signal, limits })
  return {
    openStream: open,
    async request(url, request_options) {
      const response = await open(url, request_options)
      const seconds = /^\d{1,6}$/.exec(response.header('retry-after') ?? '')?.[0]
      const text = (await response.readBytes(max_response_bytes)).toString('utf8')
      return { status: response.status, text, ...(seconds === undefined ? {} : { retry_ms: Number(seconds) * 1_000 }) }
    },
    close: () => client.close(),
  }
}
