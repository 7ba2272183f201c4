// A service that answers each operation by its schema, with a text of the test's choice wherever the schema leaves one free.
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import * as z from 'zod'
import { everyOperation } from '../../../daemon/every-role.ts'
import type { AddressedOperation } from '../../../daemon/kernel/operation/operation.ts'

type Schema = {
  readonly type?: string
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly pattern?: string
  readonly format?: string
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly propertyNames?: Schema
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly minItems?: number
}

/** Texts for patterns and formats that leave no room for another. */
const formattedTexts = [
  ...[
    '2026-01-02T03:04:05.000Z',
    'a',
    'abc',
    '0',
    '1',
    'a'.repeat(64),
    'a'.repeat(96),
    'a'.repeat(40),
    'A'.repeat(43),
    'sha256:'.concat('a'.repeat(64)),
  ],
  ...[
    'ses_abcdefghijklmnopqrstuvwxyz',
    'GET /a',
    'xchg_'.concat('a'.repeat(32)),
    'https://a.example/',
    'a/b',
    '127.0.0.1',
    '1.0.0',
    '/a',
    'A',
    '"1"',
  ],
]

/** A value of the schema. */
export function sampleOf(schema: Schema, text: string, root: Schema = schema, depth = 0): unknown {
  const inner = (each: Schema) => sampleOf(each, text, root, depth + 1)
  if (schema.$ref !== undefined) {
    const found = schema.$ref === '#' ? root : root.$defs?.[schema.$ref.replace('#/$defs/', '')]
    return found && depth < 12 ? inner(found) : {}
  }
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const choice = (schema.anyOf ?? schema.oneOf)?.find(({ type }) => type !== 'null')
  if (choice) return inner(choice)
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(inner))
  if (schema.type === 'string') return sampleText(schema, text)
  if (schema.type === 'number' || schema.type === 'integer')
    return Math.min(schema.maximum ?? 1, Math.max(1, schema.minimum ?? 0))
  if (schema.type === 'boolean') return true
  if (schema.type === 'array')
    return (
      schema.prefixItems?.map(inner) ??
      Array.from({ length: Math.max(1, schema.minItems ?? 1) }, () => inner(schema.items ?? {}))
    )
  if (schema.type !== 'object') return text
  const { properties = {}, additionalProperties } = schema
  const named = Object.entries(properties).map(([name, each]) => [name, inner(each)])
  const free =
    typeof additionalProperties === 'object'
      ? [[sampleText(schema.propertyNames ?? {}, text), inner(additionalProperties)]]
      : []
  return Object.fromEntries([...named, ...free])
}

function sampleText({ pattern, format, maxLength }: Schema, text: string): string {
  const fitting = text.slice(0, maxLength)
  if (pattern === undefined && format === undefined) return fitting
  const expression = new RegExp(pattern ?? '', 'u')
  if (format === undefined && expression.test(fitting)) return fitting
  return formattedTexts.find((each) => expression.test(each) && each.length <= (maxLength ?? each.length)) ?? fitting
}

/** What the service answers; undefined for operations whose answers are no JSON. */
export function lieOf({ operation }: AddressedOperation, text: string): unknown {
  return sampleOf(z.toJSONSchema(operation.output, { io: 'output', unrepresentable: 'any' }) as Schema, text)
}

/** Where a client accepts prose, the answer is the text as one line: line ends of prose are its own. */
export async function startLyingService(text: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const target = everyOperation.find(
      ({ operation }) =>
        operation.method === request.method && operation.path !== undefined && matchesPath(operation.path, pathname),
    )
    request.resume()
    const isText = request.headers.accept?.startsWith('text/') ?? false
    if (!target) response.writeHead(404, { 'content-type': 'application/problem+json' }).end(problem(text))
    else if (isText) response.writeHead(200, { 'content-type': 'text/plain' }).end(text.replaceAll('\n', ' '))
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(lieOf(target, text)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function matchesPath(template: string, path: string): boolean {
  return new RegExp(`^${template.replaceAll(/\{[a-z_]+\}/g, '[^/]+')}$`).test(path)
}

function problem(text: string): string {
  return JSON.stringify({
    type: 'urn:platform:problem:not_found',
    title: text,
    status: 404,
    detail: text,
    code: 'not_found',
  })
}
