// Someone with a token: calls operations by their declarations, and holds every answer against what was declared.
import type * as z from 'zod'
import { type Problem, problem } from '../../../daemon/kernel/error/problem.ts'
import {
  type AnyOperation,
  fillPath,
  type HttpMethod,
  hasBody,
  type Operation,
  pathParameters,
} from '../../../daemon/kernel/operation/operation.ts'
import type { HttpCallResponse } from './send-http-request.ts'

type RequestHeaders = Readonly<Record<string, string>>
type OperationInput<I extends z.ZodObject> = z.input<I>

export type CheckedResponse<T> = {
  readonly status: number
  readonly etag: string | undefined
  /** `Retry-After`, where the answer has one. */
  readonly retry_after_s: number | undefined
  /** Undefined when it was refused. */
  readonly value: T | undefined
  readonly problem: Problem | undefined
}

export type CheckedClient = {
  readonly token: string
  call<I extends z.ZodObject, O extends z.ZodType>(
    operation: Operation<I, O>,
    input: OperationInput<I>,
    headers?: RequestHeaders,
  ): Promise<CheckedResponse<z.output<O>>>
  /** The answer; throws for a refusal. */
  ok<I extends z.ZodObject, O extends z.ZodType>(
    operation: Operation<I, O>,
    input: OperationInput<I>,
    headers?: RequestHeaders,
  ): Promise<z.output<O>>
  /** The code of the refusal, or the status of the answer when there was none. */
  refusal<I extends z.ZodObject, O extends z.ZodType>(
    operation: Operation<I, O>,
    input: OperationInput<I>,
    headers?: RequestHeaders,
  ): Promise<Problem['code'] | number>
}

type RoleRequester = {
  call(
    role: string,
    method: HttpMethod,
    at: string,
    body?: unknown,
    options?: { token?: string; headers?: RequestHeaders },
  ): Promise<HttpCallResponse>
}

/** Codes with which the kernel itself may refuse any operation. */
const kernelRefusals = new Set([
  'unauthenticated',
  'forbidden',
  'malformed',
  'invalid',
  'too_large',
  'not_acceptable',
  'unavailable',
  'timeout',
])

export function createCheckedClient(
  site: RoleRequester,
  token: string,
  roleOf: (operation: AnyOperation) => string,
): CheckedClient {
  const person: CheckedClient = {
    token,
    async call(operation, input, headers = {}) {
      const { at, body } = buildOperationRequest(operation, input)
      const answer = await site.call(roleOf(operation), operation.method, at, body, { token, headers })
      return checkResponse(operation, answer)
    },
    async ok(operation, input, headers) {
      const { status, value, problem: why } = await person.call(operation, input, headers)
      if (why) throw new Error(`${operation.method} ${operation.path} was refused (${status}): ${JSON.stringify(why)}`)
      return value as z.output<(typeof operation)['output']>
    },
    async refusal(operation, input, headers) {
      const { status, problem: why } = await person.call(operation, input, headers)
      return why?.code ?? status
    },
  }
  return person
}

function buildOperationRequest(operation: AnyOperation, input: Readonly<Record<string, unknown>>) {
  const inPath = pathParameters(operation.path)
  const at = fillPath(operation, input)
  const rest = Object.entries(input).filter(([name, value]) => !inPath.includes(name) && value !== undefined)
  if (hasBody(operation.method)) return { at, body: rest.length > 0 ? Object.fromEntries(rest) : undefined }
  const query = new URLSearchParams(
    Object.fromEntries(rest.map(([name, value]) => [name, String(value)] as const)),
  ).toString()
  return { at: query ? `${at}?${query}` : at, body: undefined }
}

function checkResponse<O extends z.ZodType>(
  operation: Operation<z.ZodObject, O> | AnyOperation,
  { status, headers, json }: HttpCallResponse,
): CheckedResponse<z.output<O>> {
  const etag = headers.get('etag') ?? undefined
  const after = headers.get('retry-after')
  const head = { status, etag, retry_after_s: after === null ? undefined : Number(after) }
  if (status < 400) return { ...head, value: operation.output.parse(json) as z.output<O>, problem: undefined }
  const refused = problem.parse(json)
  const isDeclared = operation.errors.includes(refused.code) || kernelRefusals.has(refused.code)
  if (!isDeclared) throw new Error(`${operation.path} does not declare ${refused.code}: ${refused.detail}`)
  return { ...head, value: undefined, problem: refused }
}
