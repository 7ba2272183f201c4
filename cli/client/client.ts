// The REST client, derived from the operations themselves: an address and an input are a request, its schema the answer.
import type { IncomingMessage } from 'node:http'
import { Refused, refuse } from '../../daemon/kernel/errors.ts'
import { type Addressed, hasBody, pathParameters, type ServerEvent } from '../../daemon/kernel/operation.ts'
import { parseBy } from '../../daemon/kernel/parsing.ts'
import { refusedOf } from '../../daemon/kernel/problem.ts'
import { eventsOf } from './event-stream.ts'
import { bodyOf, chunksOf, type Endpoint, send } from './http-request.ts'
import { operationAt } from './operations.ts'

/** Who is asked, and with what right. */
export type Target = {
  /** Where a role answers. */
  endpoint(role: string): Endpoint
  /** For a role. Undefined: only public operations answer. */
  token(role: string): Promise<string | undefined>
}

export type Answered = Readonly<Record<string, unknown>>

export type Extras = {
  readonly idempotency_key?: string
  /** The version that the change is based on. */
  readonly if_match?: number
  readonly last_event_id?: string
  /** How long to wait for an answer, where that is less than usual; streams have no limit. */
  readonly timeout_ms?: number
}

export interface Client {
  /** The parsed answer. Throws `Refused` as the service refused, or before asking when the input is not valid. */
  call(address: string, input: Answered, extras?: Extras): Promise<Answered>
  /** An answer in another media type than JSON, as text. */
  text(address: string, input: Answered, accept: string): Promise<string>
  /** Server-sent events until the service ends the stream. */
  stream(address: string, input: Answered, extras?: Extras): AsyncGenerator<ServerEvent>
}

const timeout_ms = 35_000

export function client(target: Target): Client {
  const ask = async (address: string, input: Answered, accept: string, extras: Extras) => {
    const found = operationAt(address)
    const answer = await send(target.endpoint(found.role), {
      ...requestOf(found, input),
      headers: { accept, ...(await headersOf(target, found, extras)) },
      timeout_ms: found.operation.streams ? undefined : (extras.timeout_ms ?? timeout_ms),
    })
    if ((answer.statusCode ?? 0) >= 400) throw await refusalIn(answer)
    return { found, answer }
  }
  return {
    async call(address, input, extras = {}) {
      const { found, answer } = await ask(address, input, 'application/json', extras)
      return parseAnswer(found, await bodyOf(answer))
    },
    async text(address, input, accept) {
      const { answer } = await ask(address, input, accept, {})
      return await bodyOf(answer)
    },
    async *stream(address, input, extras = {}) {
      const { answer } = await ask(address, input, 'text/event-stream', extras)
      yield* eventsOf(chunksOf(answer))
    },
  }
}

/** All items of a list, page by page, at most `limit` of them. */
export async function listed(of: Client, address: string, input: Answered, limit: number): Promise<Answered[]> {
  const items: Answered[] = []
  let cursor: string | undefined
  do {
    const size = Math.min(500, limit - items.length)
    const page = await of.call(address, { ...input, limit: size, ...(cursor ? { cursor } : {}) })
    items.push(...(page.items as Answered[]))
    cursor = page.next_cursor as string | undefined
  } while (cursor !== undefined && items.length < limit)
  return items
}

function requestOf({ operation }: Addressed, given: Answered) {
  const input = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const checked = parseBy(operation.input, input)
  if (!checked.success) throw refuse('invalid', 'some values are missing or out of range', checked.errors)
  const inPath = pathParameters(operation.path)
  const path = operation.path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])))
  const left = Object.entries(input).filter(([name]) => !inPath.includes(name))
  if (!hasBody(operation.method)) return { method: operation.method, path: path + queryOf(left) }
  const isForm = operation.consumes !== undefined
  const body = isForm ? queryOf(left).slice(1) : JSON.stringify(Object.fromEntries(left))
  return { method: operation.method, path, body }
}

function queryOf(entries: readonly (readonly [string, unknown])[]): string {
  const query = new URLSearchParams(entries.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return query ? `?${query}` : ''
}

async function headersOf(
  target: Target,
  { operation, role }: Addressed,
  extras: Extras,
): Promise<Record<string, string>> {
  const token = await target.token(role)
  return {
    ...(hasBody(operation.method) ? { 'content-type': operation.consumes ?? 'application/json' } : {}),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(extras.idempotency_key === undefined ? {} : { 'idempotency-key': extras.idempotency_key }),
    ...(extras.if_match === undefined ? {} : { 'if-match': `"${extras.if_match}"` }),
    ...(extras.last_event_id === undefined ? {} : { 'last-event-id': extras.last_event_id }),
  }
}

async function refusalIn(answer: IncomingMessage): Promise<Refused> {
  return refusedOf(jsonIn(await bodyOf(answer)), answer.statusCode ?? 0)
}

function parseAnswer({ operation }: Addressed, body: string): Answered {
  if (operation.status === 204) return {}
  const parsed = parseBy(operation.output, jsonIn(body))
  if (!parsed.success) {
    throw new Refused('unavailable', 'the answer is not what this version expects', parsed.errors)
  }
  return parsed.data as Answered
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
