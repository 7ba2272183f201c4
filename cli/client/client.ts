// REST client derived from the declared operations: an address and an input make the request, the schema parses the response.
import type { HttpResponse } from '../../adapters/platform/http-client/http-response.ts'
import { parseJson } from '../../daemon/kernel/encoding/parse-json.ts'
import { isRefusal, Refusal, refuse } from '../../daemon/kernel/error/errors.ts'
import { parseWithSchema } from '../../daemon/kernel/error/parsing.ts'
import { refusalFromProblem } from '../../daemon/kernel/error/problem.ts'
import {
  type AddressedOperation,
  fillPath,
  hasBody,
  pathParameters,
  type ServerEvent,
} from '../../daemon/kernel/operation/operation.ts'
import { parseEvents } from './event-stream.ts'
import { readBody, readChunks, type ServiceEndpoint, sendRequest } from './http-request.ts'
import { explainMissingObject } from './missing-object.ts'
import { answerLimitOf, findOperation } from './operations.ts'

/** Address and credentials of a service. */
export type ServiceTarget = {
  /** Endpoint of a role. */
  endpoint(role: string): ServiceEndpoint
  /** Bearer token for a role; undefined restricts the client to public operations. */
  token(role: string): Promise<string | undefined>
  /** What a failure to reach the role means, where the machine of the command knows more. */
  explainUnreachable?(refusal: Refusal, role: string): Promise<Refusal>
}

export type ApiObject = Readonly<Record<string, unknown>>

export type ApiRequestOptions = {
  readonly idempotency_key?: string
  /** The version that the change is based on. */
  readonly if_match?: number
  readonly last_event_id?: string
  /** A stream whose token ends goes on with the next token, after the last event. Only for an operation that resumes. */
  readonly resumes?: boolean
  /** Time limit of the response (default: 5 s more than that of the operation); streams have none. */
  readonly timeout_ms?: number
  /** Ends the request and its stream: as `unavailable`. */
  readonly signal?: AbortSignal
}

export interface ServiceClient {
  /** The parsed response. Throws the `Refusal` of the service, or `invalid` before sending if the input is not valid. */
  call(address: string, input: ApiObject, extras?: ApiRequestOptions): Promise<ApiObject>
  /** The response as text, in another media type than JSON. */
  text(address: string, input: ApiObject, accept: string): Promise<string>
  /** Server-sent events until the service ends the stream. */
  stream(address: string, input: ApiObject, extras?: ApiRequestOptions): AsyncGenerator<ServerEvent>
}

export function createServiceClient(target: ServiceTarget): ServiceClient {
  const request = async (address: string, input: ApiObject, accept: string, extras: ApiRequestOptions) => {
    const addressed = await findOperation(address)
    const response = await sendRequest(target.endpoint(addressed.role), {
      ...buildRequest(addressed, input),
      headers: { accept, ...(await buildHeaders(target, addressed, extras)) },
      timeout_ms: addressed.operation.streams ? undefined : (extras.timeout_ms ?? answerLimitOf(addressed.operation)),
      signal: extras.signal,
    }).catch(async (error: unknown) => {
      const isUnreachable = isRefusal(error) && error.code === 'unavailable'
      throw isUnreachable && target.explainUnreachable ? await target.explainUnreachable(error, addressed.role) : error
    })
    if (response.status >= 400) throw explainMissingObject(await parseRefusal(response), addressed.operation, input)
    return { addressed, response }
  }
  return {
    async call(address, input, extras = {}) {
      const { addressed, response } = await request(address, input, 'application/json', extras)
      return parseResponse(addressed, await readBody(response))
    },
    async text(address, input, accept) {
      const { response } = await request(address, input, accept, {})
      return await readBody(response)
    },
    async *stream(address, input, extras = {}) {
      let last_event_id = extras.last_event_id
      for (;;) {
        const { role } = await findOperation(address)
        const token = await target.token(role)
        const from = last_event_id === undefined ? {} : { last_event_id }
        const { response } = await request(address, input, 'text/event-stream', { ...extras, ...from })
        for await (const event of parseEvents(readChunks(response))) {
          last_event_id = event.id || last_event_id
          yield event
        }
        // The service ends a stream with its token; with the token of now, the stream is over.
        if (!extras.resumes || last_event_id === undefined || token === (await target.token(role))) return
      }
    },
  }
}

function buildRequest({ operation }: AddressedOperation, values: ApiObject) {
  const input = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
  const validation = parseWithSchema(operation.input, input)
  if (!validation.success)
    throw refuse('invalid', 'some values are missing or out of range; see errors', validation.errors)
  const pathNames = pathParameters(operation.path)
  const path = fillPath(operation, input)
  const remaining = Object.entries(input).filter(([name]) => !pathNames.includes(name))
  if (!hasBody(operation.method)) return { method: operation.method, path: path + formatQuery(remaining) }
  const isForm = operation.consumes !== undefined
  const body = isForm ? formatQuery(remaining).slice(1) : JSON.stringify(Object.fromEntries(remaining))
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

async function parseRefusal(response: HttpResponse): Promise<Refusal> {
  return refusalFromProblem(parseJson(await readBody(response)), response.status)
}

function parseResponse({ operation }: AddressedOperation, body: string): ApiObject {
  if (operation.status === 204) return {}
  const validation = parseWithSchema(operation.output, parseJson(body))
  if (!validation.success) {
    throw new Refusal('unavailable', 'the response does not match the schema of this version', validation.errors)
  }
  return validation.data as ApiObject
}
