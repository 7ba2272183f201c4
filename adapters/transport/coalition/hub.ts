// A hub as a node speaks to it: each answer parsed, a token that ran out replaced once.
import * as z from 'zod'
import type { Parcel } from '../../../daemon/kernel/carrier.ts'
import {
  type CapabilityMessage,
  feedEntry,
  type NodeRegistration,
  type StatusEvent,
  waitingMail,
} from '../../../daemon/kernel/coalition.ts'
import { problem } from '../../../daemon/kernel/problem.ts'
import { arrivals } from './event-lines.ts'
import type { Tokens } from './token.ts'
import type { Answered, Asked, Web } from './web.ts'

/** What the hub refused, by its own code; `status` where it gave none. */
export class HubRefusal extends Error {
  readonly status: number
  readonly code: string
  readonly retry_ms: number | undefined

  constructor({ status, text, retry_ms }: Answered) {
    const read = problem.safeParse(jsonIn(text))
    super(read.success ? `the hub refuses: ${read.data.detail.slice(0, 200)}` : `the hub answered ${status}`)
    this.name = 'HubRefusal'
    this.status = status
    this.retry_ms = retry_ms
    this.code = read.success ? read.data.code : String(status)
  }
}

// What a later hub says besides is no reason to fail.
const registered = z.object({ heartbeat_s: z.int().min(1).max(3_600) })
const delivered = z.object({ id: z.string().min(1) })
const page = z.object({ items: z.array(waitingMail.loose()).max(64), next_cursor: z.string().max(1_024).optional() })
export type MailPage = z.infer<typeof page>
const anything = z.object({})

export type HubOptions = {
  readonly web: Web
  readonly tokens: Tokens
  readonly hub_url: string
  /** This node's name. */
  readonly node: string
}

export type Hub = ReturnType<typeof hubAt>

export function hubAt({ web, tokens, hub_url, node }: HubOptions) {
  const urlOf = (path: string) => new URL(`${hub_url.replace(/\/+$/, '')}/api/v2/hub/${path}`)
  const own = (path = '') => `node/${node}${path}`

  async function authorized<T>(asked: Asked, act: (asked: Asked) => Promise<T>, statusOf: (answer: T) => number) {
    for (let isFirst = true; ; isFirst = false) {
      const token = await tokens.current(asked.signal)
      const answer = await act({ ...asked, headers: { ...asked.headers, authorization: `Bearer ${token}` } })
      if (statusOf(answer) !== 401) return answer
      tokens.drop(token)
      if (!isFirst) return answer
    }
  }

  async function ask<T>(
    shape: z.ZodType<T>,
    path: string,
    asked: Omit<Asked, 'text'> & { body?: unknown },
  ): Promise<T> {
    const { body, ...rest } = asked
    const words = body === undefined ? {} : { text: JSON.stringify(body) }
    const headers: Record<string, string> = { accept: 'application/json' }
    if (body !== undefined) headers['content-type'] = 'application/json'
    const send = (each: Asked) => web.ask(urlOf(path), each)
    const answered = await authorized({ ...rest, ...words, headers }, send, (answer) => answer.status)
    if (answered.status < 200 || answered.status > 299) throw new HubRefusal(answered)
    const read = shape.safeParse(jsonIn(answered.text))
    if (!read.success) throw new Error('the hub gave an answer that is none')
    return read.data
  }

  return {
    register: (body: NodeRegistration, signal: AbortSignal) => ask(registered, own(), { method: 'PUT', body, signal }),
    heartbeat: (signal: AbortSignal) => ask(anything, own('/heartbeat'), { method: 'POST', body: {}, signal }),
    offer: (body: CapabilityMessage, signal: AbortSignal) =>
      ask(anything, own('/capability'), { method: 'PUT', body, signal }),
    publish: (body: StatusEvent, signal: AbortSignal) =>
      ask(feedEntry.loose(), own('/feed'), { method: 'POST', body, signal }),
    /** Durable at the hub when it resolves. */
    deliver(peer: string, { epoch, seq, envelope, body }: Parcel, signal: AbortSignal) {
      const mail = { from: node, epoch, seq, envelope: base64(envelope), body: base64(body) }
      return ask(delivered, `node/${peer}/message`, { method: 'POST', body: mail, signal })
    },
    waiting(from: string, cursor: string | undefined, signal: AbortSignal): Promise<MailPage> {
      const query = new URLSearchParams({ from, ...(cursor === undefined ? {} : { cursor }) })
      return ask(page, own(`/message?${query}`), { method: 'GET', signal })
    },
    acknowledge: (messages: readonly string[], signal: AbortSignal) =>
      ask(anything, own('/acknowledgement'), { method: 'POST', body: { messages }, signal }),
    /** Yields when messages may wait, at once for the first time; ends when the hub ends it. */
    async *wakeUps(signal: AbortSignal): AsyncIterable<void> {
      const asked: Asked = { method: 'GET', headers: { accept: 'text/event-stream' }, signal }
      const listen = async (each: Asked) => {
        const opened = await web.open(urlOf(own('/message/events')), each)
        if (opened.statusCode === 401) opened.resume()
        return opened
      }
      const answer = await authorized(asked, listen, (each) => each.statusCode ?? 0)
      try {
        if (answer.statusCode !== 200) throw new HubRefusal({ status: answer.statusCode ?? 0, text: '' })
        yield* arrivals(answer)
      } finally {
        answer.destroy()
      }
    },
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
