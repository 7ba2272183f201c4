// OpenAPI 3.1, derived from the operations that are served.
import * as z from 'zod'
import { errorTable } from '../error/errors.ts'
import { problem } from '../error/problem.ts'
import {
  type AddressedOperation,
  type AnyOperation,
  hasBody,
  listPaths,
  pathParameters,
} from '../operation/operation.ts'

type JsonObject = Record<string, unknown>

/** The document for one role: every path it serves, aliases included. */
export function buildOpenapi(
  title: string,
  version: string,
  description: string,
  operations: readonly AddressedOperation[],
): JsonObject {
  const schemas: JsonObject = {}
  const paths: Record<string, JsonObject> = {}
  for (const { address, operation } of operations) {
    for (const [index, path] of listPaths(operation).entries()) {
      const id = index === 0 ? address : `${address}.${index + 1}`
      paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describeOperation(id, operation, schemas) }
    }
  }
  return {
    openapi: '3.1.0',
    info: { title, version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: { schemas, securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
  }
}

function describeOperation(operationId: string, operation: AnyOperation, schemas: JsonObject): JsonObject {
  const input = schemaOf(operation.input, 'input', schemas)
  const inPath = pathParameters(operation.path)
  return {
    operationId,
    summary: operation.summary,
    tags: [operationId.split('.')[1]],
    ...(operation.allow === 'public' ? { security: [] } : {}),
    ...(operation.time_limit_ms === undefined ? {} : { 'x-time-limit-ms': operation.time_limit_ms }),
    parameters: [...parameters(input, inPath, operation), ...headers(operation)],
    ...(hasBody(operation.method) ? bodyOf(operation, omitProperties(input, inPath)) : {}),
    responses: responses(operation, schemas),
  }
}

function parameters(input: JsonObject, inPath: readonly string[], operation: AnyOperation): JsonObject[] {
  const required = (input.required ?? []) as string[]
  return Object.entries((input.properties ?? {}) as Record<string, JsonObject>).flatMap(([name, schema]) => {
    if (inPath.includes(name)) return [{ name, in: 'path', required: true, schema }]
    if (hasBody(operation.method)) return []
    return [
      {
        name,
        in: 'query',
        required: required.includes(name),
        schema,
        ...(schema.type === 'array' ? { style: 'form', explode: false } : {}),
      },
    ]
  })
}

function headers(operation: AnyOperation): JsonObject[] {
  const header = (name: string, description: string, schema: JsonObject = { type: 'string' }) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema,
  })
  return [
    ...(operation.creates
      ? [
          header(
            'Idempotency-Key',
            'A repeated request with the same key returns the object that the first one created',
            {
              type: 'string',
              minLength: 1,
              maxLength: 255,
              pattern: '^[!-~]+$',
            },
          ),
        ]
      : []),
    ...(operation.versioned && operation.method !== 'GET'
      ? [
          header('If-Match', 'ETag of the version that the change is based on; * matches any version', {
            type: 'string',
            pattern: '^("[0-9]{1,15}"|\\*)$',
          }),
        ]
      : []),
    ...(operation.streams
      ? [
          header('Last-Event-ID', 'ID of the last event received; the stream resumes after it', {
            type: 'string',
            maxLength: 64,
          }),
        ]
      : []),
  ]
}

function bodyOf(operation: AnyOperation, schema: JsonObject): JsonObject {
  if (operation.signed) return { requestBody: { required: true, content: { 'application/json': { schema: {} } } } }
  const required = ((schema.required ?? []) as unknown[]).length > 0
  return { requestBody: { required, content: { [operation.consumes ?? 'application/json']: { schema } } } }
}

function omitProperties(input: JsonObject, names: readonly string[]): JsonObject {
  const properties = Object.fromEntries(
    Object.entries((input.properties ?? {}) as JsonObject).filter(([name]) => !names.includes(name)),
  )
  const required = ((input.required ?? []) as string[]).filter((name) => !names.includes(name))
  const { required: _dropped, ...rest } = input
  return { ...rest, properties, ...(required.length ? { required } : {}) }
}

function responses(operation: AnyOperation, schemas: JsonObject): JsonObject {
  const status = operation.status ?? 200
  const json = operation.produces?.length === 1 && operation.produces[0] !== 'application/json'
  const content: JsonObject =
    json || status === 204 ? {} : { 'application/json': { schema: schemaOf(operation.output, 'output', schemas) } }
  for (const type of operation.produces ?? []) content[type] ??= textContent(type, operation, schemas)
  const problems = [...problemStatuses(operation)]
    .sort()
    .map((code) => [String(code), refusal(code, operation, schemas)])
  return {
    [status]: {
      description: 'Done',
      ...(status === 204 ? {} : { content }),
      ...(operation.versioned ? { headers: { ETag: { schema: { type: 'string' } } } } : {}),
    },
    ...Object.fromEntries(problems),
  }
}

/** Every status that the kernel or the operation itself can refuse with. */
function problemStatuses(operation: AnyOperation): Set<number> {
  const always = [400, 408, 413, 415, 422, 429, 431, 500, 503]
  const tokened = operation.allow === 'public' ? [] : [401, 403]
  const otherStatuses = Object.keys(operation.otherwise ?? {}).map(Number)
  return new Set([...always, ...tokened, ...otherStatuses, ...operation.errors.map((code) => errorTable[code].status)])
}

/** OpenAPI 3.1 has no schema for a stream: the extension holds the schema of the data of each event. */
function textContent(type: string, operation: AnyOperation, schemas: JsonObject): JsonObject {
  if (type !== 'text/event-stream') return { schema: { type: 'string' } }
  return { 'x-event-data': schemaOf(operation.output, 'output', schemas) }
}

function refusal(status: number, { otherwise }: AnyOperation, schemas: JsonObject): JsonObject {
  const other = otherwise?.[status]
  return {
    description: 'Refused',
    content: {
      'application/problem+json': { schema: schemaOf(problem, 'output', schemas) },
      ...(other ? { 'application/json': { schema: schemaOf(other, 'output', schemas) } } : {}),
    },
  }
}

/** The JSON Schema of a value, with its named definitions moved to `components.schemas`. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: JsonObject): JsonObject {
  const suffix = io === 'input' ? 'Input' : ''
  const {
    $defs,
    $schema: _dialect,
    ...own
  } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }) as JsonObject & { $defs?: JsonObject }
  const rename = (ref: string) => `#/components/schemas/${ref.replace('#/$defs/', '')}${suffix}`
  for (const [name, part] of Object.entries($defs ?? {}))
    schemas[`${name}${suffix}`] ??= rewriteReferences(part, rename)
  const id = own.id
  if (typeof id !== 'string') return rewriteReferences(own, rename) as JsonObject
  schemas[`${id}${suffix}`] ??= rewriteReferences(own, rename)
  return { $ref: `#/components/schemas/${id}${suffix}` }
}

function rewriteReferences(node: unknown, rename: (ref: string) => string): unknown {
  if (Array.isArray(node)) return node.map((item) => rewriteReferences(item, rename))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key, value]) => !(key === 'id' && typeof value === 'string') && key !== '$schema')
      .map(([key, value]) =>
        key === '$ref' && typeof value === 'string' ? [key, rename(value)] : [key, rewriteReferences(value, rename)],
      ),
  )
}
