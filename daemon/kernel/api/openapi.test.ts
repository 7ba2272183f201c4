// The OpenAPI document matches the operations it is derived from, and every reference in it resolves.
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type AddressedOperation, type AnyOperation, operation } from '../operation/operation.ts'
import { deriveTools } from './mcp-tools.ts'
import { buildOpenapi } from './openapi.ts'

const point = z.strictObject({ x: z.number(), y: z.number().default(0) }).meta({ id: 'Point' })
const run = async () => ({ x: 1, y: 1 })
const common = { summary: 'Does it', errors: [], output: point, allow: 'point:write', run } as const

const verbs: Record<string, AnyOperation> = {
  read: operation({
    ...common,
    method: 'GET',
    path: '/point/{id}',
    also: ['/dot/{id}'],
    input: z.strictObject({ id: z.string(), fields: z.array(z.string()).optional(), depth: z.int() }),
    versioned: true,
    produces: ['text/plain', 'text/markdown'],
    errors: ['not_found'],
    tool: 'point_read',
  }),
  create: operation({
    ...common,
    method: 'POST',
    path: '/point/{id}',
    input: z.strictObject({ id: z.string(), at: point }),
    creates: true,
    status: 201,
    errors: ['already_exists'],
    tool: 'point_create',
  }),
  change: operation({
    ...common,
    method: 'PUT',
    path: '/point/{id}',
    input: z.strictObject({ id: z.string() }),
    versioned: true,
  }),
  remove: operation({
    ...common,
    method: 'DELETE',
    path: '/point/{id}',
    input: z.strictObject({ id: z.string() }),
    status: 204,
    allow: 'public',
  }),
}
const operations: AddressedOperation[] = Object.entries(verbs).map(([verb, declared]) => ({
  address: `draw.point.${verb}`,
  role: 'draw',
  operation: declared,
}))

type DescribedOperation = {
  operationId: string
  security?: unknown[]
  parameters: { name: string; in: string; required: boolean; schema: unknown; explode?: boolean }[]
  requestBody?: {
    required: boolean
    content: Record<string, { schema: { properties: object; required?: string[]; additionalProperties: boolean } }>
  }
  responses: Record<string, { content?: Record<string, unknown>; headers?: object }>
}
const document = buildOpenapi('draw', '1.0.0', 'Points.', operations) as unknown as {
  openapi: string
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, unknown> }
}
const at = (path: string, method: string) => document.paths[path]?.[method] as DescribedOperation

describe('the document', () => {
  test('lists each operation at each of its paths, with a unique operationId', () => {
    const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${method} ${path} ${operationId}`),
    )
    expect(listed).toEqual([
      'get /point/{id} draw.point.read',
      'post /point/{id} draw.point.create',
      'put /point/{id} draw.point.change',
      'delete /point/{id} draw.point.remove',
      'get /dot/{id} draw.point.read.2',
    ])
  })

  test('contains every schema that it references', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '')
    expect(refs.length).toBeGreaterThan(0)
    for (const ref of refs) expect(document.components.schemas).toHaveProperty(ref.replace('#/components/schemas/', ''))
  })

  test('is deterministic, and plain JSON', () => {
    expect(buildOpenapi('draw', '1.0.0', 'Points.', operations)).toEqual(JSON.parse(JSON.stringify(document)))
  })
})

describe('an operation', () => {
  test('declares path and query parameters; lists are comma-separated', () => {
    expect(at('/point/{id}', 'get').parameters.map(({ name, in: where, required }) => [name, where, required])).toEqual(
      [
        ['id', 'path', true],
        ['fields', 'query', false],
        ['depth', 'query', true],
      ],
    )
    expect(at('/point/{id}', 'get').parameters[1]).toMatchObject({ explode: false })
  })

  test('accepts in the body every field that is not in the path, and no unknown field', () => {
    const { requestBody } = at('/point/{id}', 'post')
    const schema = requestBody?.content['application/json']?.schema
    expect(requestBody?.required).toBe(true)
    expect(Object.keys(schema?.properties ?? {})).toEqual(['at'])
    expect(schema?.additionalProperties).toBe(false)
    expect(at('/point/{id}', 'put').requestBody?.required).toBe(false)
    expect(at('/point/{id}', 'delete').requestBody).toBeUndefined()
  })

  test('declares the headers that it honours', () => {
    const headersOf = (method: string) =>
      at('/point/{id}', method)
        .parameters.filter((parameter) => parameter.in === 'header')
        .map(({ name }) => name)
    expect(headersOf('get')).toEqual([])
    expect(headersOf('post')).toEqual(['Idempotency-Key'])
    expect(headersOf('put')).toEqual(['If-Match'])
    expect(at('/point/{id}', 'get').responses['200']?.headers).toHaveProperty('ETag')
  })

  test('lists its success status, its own errors, and the errors of every operation', () => {
    expect(Object.keys(at('/point/{id}', 'post').responses)).toEqual(
      expect.arrayContaining(['201', '401', '403', '409', '413', '415', '422', '503']),
    )
    expect(Object.keys(at('/point/{id}', 'get').responses)).toContain('404')
    expect(at('/point/{id}', 'delete').responses['204']).not.toHaveProperty('content')
    expect(Object.keys(at('/point/{id}', 'get').responses['200']?.content ?? {})).toEqual([
      'application/json',
      'text/plain',
      'text/markdown',
    ])
  })

  test('needs no token when it is public', () => {
    expect(at('/point/{id}', 'delete')).toMatchObject({ security: [] })
    expect(at('/point/{id}', 'delete').responses).not.toHaveProperty('401')
    expect(at('/point/{id}', 'get')).not.toHaveProperty('security')
  })
})

test('operations with a tool name become tools with the same input schema', () => {
  const tools = deriveTools(operations)
  expect(tools.map(({ name, annotations }) => [name, annotations])).toEqual([
    ['point_read', { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }],
    ['point_create', { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }],
  ])
  expect(tools[0]?.input_schema).toMatchObject({ required: ['id', 'depth'], additionalProperties: false })
  expect(tools[0]?.output_schema).toMatchObject({ type: 'object', required: ['x', 'y'], $defs: {} })
})
