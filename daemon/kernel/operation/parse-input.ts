// Collects the input of an operation from path, query and body, and parses it by the operation's schema.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../error/errors.ts'
import { parseWithSchema } from '../error/parsing.ts'
import { coerceText } from '../settings/settings.ts'
import { type AnyOperation, hasBody } from './operation.ts'

type RequestParts = {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly body: unknown
  readonly through?: { readonly fields: Readonly<Record<string, unknown>> }
}

/** Path parameters, query and body as one parsed object. Refuses `malformed` and `invalid`. */
export function parseInput(operation: AnyOperation, request: RequestParts): Record<string, unknown> | Refusal {
  const gathered =
    request.through?.fields ??
    (hasBody(operation.method) ? fieldsFromBody(request) : fieldsFromQuery(operation, request))
  if (isRefusal(gathered)) return gathered
  const parsed = parseWithSchema(operation.input, { ...gathered, ...request.params })
  if (parsed.success) return parsed.data
  return refuse('invalid', 'some fields are missing, unknown or out of range', parsed.errors)
}

function fieldsFromBody(request: RequestParts): Record<string, unknown> | Refusal {
  if (Object.keys(request.query).length > 0) return refuse('invalid', 'this operation does not accept query parameters')
  if (request.body === undefined) return {}
  if (typeof request.body !== 'object' || request.body === null || Array.isArray(request.body)) {
    return refuse('malformed', 'the body must be a JSON object')
  }
  for (const name of Object.keys(request.params)) {
    if (name in request.body)
      return refuse('invalid', `"${name}" is allowed only in the path`, [
        { path: name, message: 'must not be in the body' },
      ])
  }
  return request.body as Record<string, unknown>
}

function fieldsFromQuery(operation: AnyOperation, request: RequestParts): Record<string, unknown> | Refusal {
  const types = queryTypes(operation)
  const gathered: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(request.query)) {
    if (name in request.params) return refuse('invalid', `"${name}" is allowed only in the path`)
    if (typeof value !== 'string')
      return refuse('invalid', `"${name}" was sent more than once; send it once`, [
        { path: name, message: 'must be sent once' },
      ])
    gathered[name] = coerceText(types[name], value)
  }
  return gathered
}

const queryTypesByOperation = new WeakMap<AnyOperation, Record<string, unknown>>()

function queryTypes(operation: AnyOperation): Record<string, unknown> {
  let types = queryTypesByOperation.get(operation)
  if (!types) {
    types = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }).properties ?? {}
    queryTypesByOperation.set(operation, types)
  }
  return types
}
