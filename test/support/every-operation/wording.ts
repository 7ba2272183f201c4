// Words a request for any operation from its declaration and an input, rightly or wrongly.
import * as z from 'zod'
import { type Addressed, type AnyOperation, hasBody, pathParameters } from '../../../daemon/kernel/operation.ts'
import type { Heard, Sent } from '../http-exchange.ts'
import type { Stage } from './stage.ts'

export type Change = Omit<Partial<Sent>, 'port' | 'method'> & {
  /** Added to the query string, whatever the method. */
  readonly query?: Readonly<Record<string, string>>
}

/** Sends `input` as the operation declares it; `change` replaces parts of the request. */
export function asks(
  { site }: Stage,
  { role, operation }: Addressed,
  input: Readonly<Record<string, unknown>>,
  change: Change = {},
  path: string = operation.path,
): Promise<Heard> {
  const { query = {}, ...replaced } = change
  const inPath = pathParameters(path)
  const rest = Object.entries(input).filter(([name]) => !inPath.includes(name))
  const filled = path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])))
  const own: [string, string][] = hasBody(operation.method) ? [] : rest.map(([name, value]) => [name, String(value)])
  const search = new URLSearchParams([...own, ...Object.entries(query)]).toString()
  return site.ask(role, {
    method: operation.method,
    path: search ? `${filled}?${search}` : filled,
    ...bodyOf(operation, Object.fromEntries(rest)),
    ...replaced,
  })
}

function bodyOf(operation: AnyOperation, fields: Readonly<Record<string, unknown>>): Pick<Sent, 'body' | 'headers'> {
  if (!hasBody(operation.method)) return {}
  if (!operation.consumes) return { body: JSON.stringify(fields), headers: { 'content-type': 'application/json' } }
  const form = Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)])
  return { body: new URLSearchParams(form).toString(), headers: { 'content-type': operation.consumes } }
}

type Field = Readonly<Record<string, unknown>>

export function fieldsOf(operation: AnyOperation): Readonly<Record<string, Field>> {
  return (schemaOf(operation).properties ?? {}) as Record<string, Field>
}

export function requiredOf(operation: AnyOperation): readonly string[] {
  return (schemaOf(operation).required ?? []) as string[]
}

/** Whether a field that it does not know is refused; the token endpoint must ignore such (RFC 6749 section 3.2). */
export function isStrict(operation: AnyOperation): boolean {
  return schemaOf(operation).additionalProperties === false
}

function schemaOf(operation: AnyOperation): Field {
  return z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }) as Field
}
