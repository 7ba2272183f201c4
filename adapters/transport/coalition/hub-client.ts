// Client of a hub's API for one node: parses each response, and renews an expired token once.

import * as z from 'zod'
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import { problem } from '../../../daemon/kernel/error/problem.ts'
import type { CarriedMessage } from '../../../daemon/kernel/messaging/carrier.ts'
import {
  type CapabilityMessage,
  feedEntry,
  type NodeRegistration,
  queuedHubMessage,
  type StatusEvent,
} from '../../../daemon/shared/coalition/hub-protocol.ts'
import type { HubHttpClient, HubHttpRequest, HubHttpResponse } from './hub-http-client.ts'
import { serverSentEvents } from './server-sent-events.ts'
import type { HubTokenSource } from './token.ts'

/** A refusal of the hub, by its own code; `status` where it gave none. */
export class HubRefusal extends Error {
  readonly status: number
  readonly code: string
  readonly retry_ms: number | undefined

  constructor({ status, text, retry_ms }: HubHttpResponse) {
    const read = problem.safeParse(parseJson(text))
    super(
      read.success ? `the hub refused the request: ${read.data.detail.slice(0, 200)}` : `the hub answered ${status}`,
    )
    this.name = 'HubRefusal'
    this.status = status
    this.retry_ms = retry_ms
    this.code = read.success ? read.data.code : String(status)
  }
}

// Additional fields of a later hub are ignored.
const registrationResponse = z.object({ heartbeat_s: z.int().min(1).max(3_600) })
const deliveryResponse = z.object({ id: z.string().min(1) })
const mailPage = z.object({
  items: z.array(queuedHubMessage.loose()).max(64),
  next_cursor: z.string().max(1_024).optional(),
})
export type MailPage = z.infer<typeof mailPage>
const anyResponse = z.object({})

export type HubClientOptions = {
  readonly web: HubHttpClient
  readonly tokens: HubTokenSource
  readonly hub_url: string
  /** This node's name. */
  readonly node: string
}

export type HubClient = ReturnType<typeof hubClient>

export function hubClient({ web, tokens, hub_url, node }: HubClientOptions) {
  const urlOf = (path: string) => new URL(`${hub_url.replace(/\/+$/, '')}/api/v2/hub/${path}`)
  const own = (path = '') => `node/${node}${path}`

  async function authorized<T>(
    request: HubHttpRequest,
    act: (request: HubHttpRequest) => Promise<T>,
    statusOf: (answer: T) => number,
  ) {
    for (let isFirst = true; ; isFirst = false) {
      const token = await tokens.current(request.signal)
      const answer = await act({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } })
      if (statusOf(answer) !== 401) return answer
      tokens.drop(token)
      if (!isFirst) return answer
    }
  }

  async function ask<T>(
    shape: z.ZodType<T>,
    path: string,
    request: Omit<HubHttpRequest, 'text'> & { body?: unknown },
  ): Promise<T> {
    const { body, ...rest } = request
    const words = body === undefined ? {} : { text: JSON.stringify(body) }
    const headers: Record<string, string> = { accept: 'application/json' }
    if (body !== undefined) headers['content-type'] = 'application/json'
    const send = (each: HubHttpRequest) => web.request(urlOf(path), each)
    const answered = await authorized({ ...rest, ...words, headers }, send, (answer) => answer.status)
    if (answered.status < 200 || answered.status > 299) throw new HubRefusal(answered)
    const read = shape.safeParse(parseJson(answered.text))
    if (!read.success) throw new Error('the answer of the hub cannot be parsed')
    return read.data
  }

  return {
    register: (body: NodeRegistration, signal: AbortSignal) =>
      ask(registrationResponse, own(), { method: 'PUT', body, signal }),
    heartbeat: (signal: AbortSignal) => ask(anyResponse, own('/heartbeat'), { method: 'POST', body: {}, signal }),
    offer: (body: CapabilityMessage, signal: AbortSignal) =>
      ask(anyResponse, own('/capability'), { method: 'PUT', body, signal }),
    publish: (body: StatusEvent, signal: AbortSignal) =>
      ask(feedEntry.loose(), own('/feed'), { method: 'POST', body, signal }),
    /** Durable at the hub when it resolves. */
    deliver(peer: string, { epoch, seq, envelope, body }: CarriedMessage, signal: AbortSignal) {
      const mail = { from: node, epoch, seq, envelope: encodeBase64(envelope), body: encodeBase64(body) }
      return ask(deliveryResponse, `node/${peer}/message`, { method: 'POST', body: mail, signal })
    },
    waiting(from: string, cursor: string | undefined, signal: AbortSignal): Promise<MailPage> {
      const query = new URLSearchParams({ from, ...(cursor === undefined ? {} : { cursor }) })
      return ask(mailPage, own(`/message?${query}`), { method: 'GET', signal })
    },
    acknowledge: (messages: readonly string[], signal: AbortSignal) =>
      ask(anyResponse, own('/acknowledgement'), { method: 'POST', body: { messages }, signal }),
    /** Yields when messages may wait, at once for the first time; ends when the hub ends it. */
    async *wakeUps(signal: AbortSignal): AsyncIterable<void> {
      const request: HubHttpRequest = { method: 'GET', headers: { accept: 'text/event-stream' }, signal }
      const listen = async (each: HubHttpRequest) => {
        const opened = await web.openStream(urlOf(own('/message/events')), each)
        if (opened.status === 401) opened.drain()
        return opened
      }
      const answer = await authorized(request, listen, (each) => each.status)
      try {
        if (answer.status !== 200) throw new HubRefusal({ status: answer.status, text: '' })
        yield* serverSentEvents(answer.chunks())
      } finally {
        answer.destroy()
      }
    },
  }
}

function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
