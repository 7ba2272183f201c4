// The REST client, derived from the operations themselves: an address and an input are a request, its schema the answer.

import type { HttpResponse } from '../../adapters/platform/http-client/http-response.ts'
import { parseJson } from '../../daemon/kernel/encoding/parse-json.ts'
import { Refusal, refuse } from '../../daemon/kernel/error/errors.ts'
import { parseWithSchema } from '../../daemon/kernel/error/parsing.ts'
import { refusalFromProblem } from '../../daemon/kernel/error/problem.ts'
import {
  type AddressedOperation,
  hasBody,
  pathParameters,
  type ServerEvent,
} from '../../daemon/kernel/operation/operation.ts'
import { parseEvents } from './event-stream.ts'
import { readBody, readChunks, type ServiceEndpoint, sendRequest } from './http-request.ts'
import { findOperation } from './operations.ts'

/** Who is asked, and with what right. */
export type ServiceTarget = {
  /** Where a role answers. */
  endpoint(role: string): ServiceEndpoint
  /** For a role. Undefined: only public operations answer. */
  token(role: string): Promise<string | undefined>
}

export type ApiObject = Readonly<Record<string, unknown>>

export type ApiRequestOptions = {
  readonly idempotency_key?: string
  /** The version that the change is based on. */
  readonly if_match?: number
  readonly last_event_id?: string
  /** How long to wait for an answer, where that is less than usual; streams have no limit. */
  readonly timeout_ms?: number
}

export interface ServiceClient {
  /** The parsed answer. Throws `Refusal` as the service refused, or before asking when the input is not valid. */
  call(address: string, input: ApiObject, extras?: ApiRequestOptions): Promise<ApiObject>
  /** An answer in another media type than JSON, as text. */
  text(address: string, input: ApiObject, accept: string): Promise<string>
  /** Server-sent events until the service ends the stream. */
  stream(address: string, input: ApiObject, extras?: ApiRequestOptions): AsyncGenerator<ServerEvent>
}

const timeout_ms = 35_000

export function createServiceClient(target: ServiceTarget): ServiceClient {
  const ask = async (address: string, input: ApiObject, accept: string, extras: ApiRequestOptions) => {
    const found = findOperation(address)
    const answer = await sendRequest(target.endpoint(found.role), {
      ...buildRequest(found, input),
      headers: { accept, ...(await buildHeaders(target, found, extras)) },
      timeout_ms: found.operation.streams ? undefined : (extras.timeout_ms ?? timeout_ms),
    })
    if (answer.status >= 400) throw await parseRefusal(answer)
    return { found, answer }
  }
  return {
    async call(address, input, extras = {}) {
      const { found, answer } = await ask(address, input, 'application/json', extras)
      return parseResponse(found, await readBody(answer))
    },
    async text(address, input, accept) {
      const { answer } = await ask(address, input, accept, {})
      return await readBody(answer)
    },
    async *stream(address, input, extras = {}) {
      const { answer } = await ask(address, input, 'text/event-stream', extras)
      yield* parseEvents(readChunks(answer))
    },
  }
}

/** All items of a list, page by page, at most `limit` of them. */
export async function listAllItems(
  of: ServiceClient,
  address: string,
  input: ApiObject,
  limit: number,
): Promise<ApiObject[]> {
  const items: ApiObject[] = []
  let cursor: string | undefined
  do {
    const size = Math.min(500, limit - items.length)
    const page = await of.call(address, { ...input, limit: size, ...(cursor ? { cursor } : {}) })
    items.push(...(page.items as ApiObject[]))
    cursor = page.next_cursor as string | undefined
  } while (cursor !== undefined && items.length < limit)
  return items
}

function buildRequest({ operation }: AddressedOperation, given: ApiObject) {
  const input = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const checked = parseWithSchema(operation.input, input)
  if (!checked.success) throw refuse('invalid', 'some values are missing or out of range', checked.errors)
  const inPath = pathParameters(operation.path)
  const path = operation.path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])))
  const left = Object.entries(input).filter(([name]) => !inPath.includes(name))
  if (!hasBody(operation.method)) return { method: operation.method, path: path + formatQuery(left) }
  const isForm = operation.consumes !== undefined
  const body = isForm ? formatQuery(left).slice(1) : JSON.stringify(Object.fromEntries(left))
  return { method: operation.method, path, body }
}

function formatQuery(entries: readonly (readonly [string, unknown])[]): string {
  const query = new URLSearchParams(entries.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return query ? `?${query}` : ''
}

async function buildHeaders(
  target: ServiceTarget,
  { operation, role }: AddressedOperation,
  extras: ApiRequestOptions,
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

async function parseRefusal(answer: HttpResponse): Promise<Refusal> {
  return refusalFromProblem(parseJson(await readBody(answer)), answer.status)
}

function parseResponse({ operation }: AddressedOperation, body: string): ApiObject {
  if (operation.status === 204) return {}
  const parsed = parseWithSchema(operation.output, parseJson(body))
  if (!parsed.success) {
    throw new Refusal('unavailable', 'the answer is not what this version expects', parsed.errors)
  }
  return parsed.data as ApiObject
}
