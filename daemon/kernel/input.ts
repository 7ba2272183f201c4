// Gathers the input of an operation from where a request carries it, and parses it by the operation's own schema.
import * as z from 'zod'
import { isRefused, type Refused, refuse } from './errors.ts'
import { type AnyOperation, hasBody } from './operation.ts'
import { parseBy } from './parsing.ts'
import { coerce } from './settings.ts'

type Parts = {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly body: unknown
  readonly fields?: Readonly<Record<string, unknown>> | undefined
}

/** Path parameters, query and body as one parsed object. Refuses `malformed` and `invalid`. */
export function parseInput(operation: AnyOperation, request: Parts): Record<string, unknown> | Refused {
  const gathered = request.fields ?? (hasBody(operation.method) ? fromBody(request) : fromQuery(operation, request))
  if (isRefused(gathered)) return gathered
  const parsed = parseBy(operation.input, { ...gathered, ...request.params })
  if (parsed.success) return parsed.data
  return refuse('invalid', 'some fields are missing, unknown or out of range', parsed.errors)
}

function fromBody(request: Parts): Record<string, unknown> | Refused {
  if (Object.keys(request.query).length > 0) return refuse('invalid', 'this operation takes no query parameters')
  if (request.body === undefined) return {}
  if (typeof request.body !== 'object' || request.body === null || Array.isArray(request.body)) {
    return refuse('malformed', 'the body must be a JSON object')
  }
  for (const name of Object.keys(request.params)) {
    if (name in request.body)
      return refuse('invalid', `"${name}" belongs in the path alone`, [
        { path: name, message: 'must not be in the body' },
      ])
  }
  return request.body as Record<string, unknown>
}

function fromQuery(operation: AnyOperation, request: Parts): Record<string, unknown> | Refused {
  const types = queryTypes(operation)
  const gathered: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(request.query)) {
    if (name in request.params) return refuse('invalid', `"${name}" belongs in the path alone`)
    if (typeof value !== 'string')
      return refuse('invalid', `"${name}" is given more than once`, [{ path: name, message: 'must be given once' }])
    gathered[name] = coerce(types[name], value)
  }
  return gathered
}

const typesOfInputs = new WeakMap<AnyOperation, Record<string, unknown>>()

function queryTypes(operation: AnyOperation): Record<string, unknown> {
  let types = typesOfInputs.get(operation)
  if (!types) {
    types = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }).properties ?? {}
    typesOfInputs.set(operation, types)
  }
  return types
}
