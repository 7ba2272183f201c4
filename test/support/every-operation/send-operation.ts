// Words a request for any operation from its declaration and an input, rightly or wrongly.
import * as z from 'zod'
import {
  type AddressedOperation,
  type AnyOperation,
  hasBody,
  listPaths,
  pathParameters,
} from '../../../daemon/kernel/operation/operation.ts'
import type { ExactRequest, ExactResponse } from '../http/send-exact-request.ts'
import type { OperationFixture } from './operation-fixture.ts'

export type RequestChange = Omit<Partial<ExactRequest>, 'port' | 'method'> & {
  /** Added to the query string, for every method. */
  readonly query?: Readonly<Record<string, string>>
}

/** Sends `input` as the operation declares it; `change` replaces parts of the request. */
export function sendOperation(
  { site }: OperationFixture,
  { role, operation }: AddressedOperation,
  input: Readonly<Record<string, unknown>>,
  change: RequestChange = {},
  path = listPaths(operation)[0] ?? '',
): Promise<ExactResponse> {
  const { query = {}, ...replaced } = change
  return site.request(role, { ...buildRequest(operation, input, query, path), ...replaced })
}

/** Words the request of an input, as the operation declares it. */
export function buildRequest(
  operation: AnyOperation,
  input: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, string>> = {},
  path = listPaths(operation)[0] ?? '',
): Pick<ExactRequest, 'method' | 'path' | 'body' | 'headers'> {
  const inPath = pathParameters(path)
  const rest = Object.entries(input).filter(([name]) => !inPath.includes(name))
  const filled = path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])))
  const own: [string, string][] = hasBody(operation.method) ? [] : rest.map(([name, value]) => [name, String(value)])
  const search = new URLSearchParams([...own, ...Object.entries(query)]).toString()
  return {
    method: operation.method,
    path: search ? `${filled}?${search}` : filled,
    ...buildBody(operation, Object.fromEntries(rest)),
  }
}

function buildBody(
  operation: AnyOperation,
  fields: Readonly<Record<string, unknown>>,
): Pick<ExactRequest, 'body' | 'headers'> {
  if (!hasBody(operation.method)) return {}
  if (!operation.consumes) return { body: JSON.stringify(fields), headers: { 'content-type': 'application/json' } }
  const form = Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)])
  return { body: new URLSearchParams(form).toString(), headers: { 'content-type': operation.consumes } }
}

/** Whether the input comes to the operation: any other is refused by its schema. */
export function isAcceptedInput(operation: AnyOperation, input: Readonly<Record<string, unknown>>): boolean {
  return operation.input.safeParse(input).success
}

type FieldSchema = Readonly<Record<string, unknown>>

export function listInputFields(operation: AnyOperation): Readonly<Record<string, FieldSchema>> {
  return (buildInputSchema(operation).properties ?? {}) as Record<string, FieldSchema>
}

export function listRequiredFields(operation: AnyOperation): readonly string[] {
  return (buildInputSchema(operation).required ?? []) as string[]
}

/** Whether a field that it does not know is refused; the token endpoint must ignore such (RFC 6749 section 3.2). */
export function rejectsUnknownFields(operation: AnyOperation): boolean {
  return buildInputSchema(operation).additionalProperties === false
}

function buildInputSchema(operation: AnyOperation): FieldSchema {
  return z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }) as FieldSchema
}
