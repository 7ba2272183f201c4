// Builds the most expensive inputs that the schema of an operation allows, within the limit of its body.
import * as z from 'zod'
import { type AnyOperation, hasBody, pathParameters } from '../../../daemon/kernel/operation/operation.ts'

type JsonSchema = {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, JsonSchema>>
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly pattern?: string
  readonly format?: string
  readonly maxLength?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema | boolean
}

const default_body_bytes = 1_048_576
/** Without a body, the request line is the limit. */
const line_bytes = 8_192
/** Room for names, punctuation and what the sample brings. */
const overhead_bytes = 4_096
/** Of a list within a list, which JSON allows without end. */
const level_bytes = 16
/** Letters that expand when they are normalised, and words. */
const filler = 'Aﬃ é'

/** Bytes of the largest body of the operation; of its query where it has none. */
export function limitOf(operation: AnyOperation): number {
  return hasBody(operation.method) ? (operation.max_body_bytes ?? default_body_bytes) : line_bytes
}

/** The sample with every field that is free at its largest; a field with a pattern or a fixed set of values stays. */
export function buildLargestInput(
  operation: AnyOperation,
  sample: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const root = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  const inPath = pathParameters(operation.path)
  const free = Object.entries(root.properties ?? {}).filter(([name]) => !inPath.includes(name))
  const budget = (limitOf(operation) - overhead_bytes) / Math.max(1, free.length)
  const grown = free.flatMap(([name, schema]) => {
    const value = growValue(root, schema, sample[name], budget)
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...sample, ...Object.fromEntries(grown) }
}

/** A value at its largest; `sample` where the schema leaves no choice. */
function growValue(root: JsonSchema, schema: JsonSchema, sample: unknown, budget: number): unknown {
  const target = resolveReference(root, schema)
  if (budget < 8 || target.const !== undefined || target.enum) return sample
  const branches = target.anyOf ?? target.oneOf
  if (branches) return growValue(root, pickLargest(root, branches), sample, budget)
  switch (target.type) {
    case 'string':
      return target.pattern !== undefined || target.format !== undefined ? sample : growText(target, budget)
    case 'integer':
    case 'number':
      return target.maximum ?? sample
    case 'array':
      return growList(root, target, sample, budget)
    case 'object':
      return growObject(root, target, sample, budget)
    default:
      return sample
  }
}

function resolveReference(root: JsonSchema, schema: JsonSchema): JsonSchema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (root.$defs?.[name] ?? schema)
}

/** Lists and objects cost more than texts of the same size. */
function pickLargest(root: JsonSchema, branches: readonly JsonSchema[]): JsonSchema {
  const resolved = branches.map((branch) => resolveReference(root, branch))
  return (
    resolved.find(({ type }) => type === 'array') ?? resolved.find(({ type }) => type === 'object') ?? branches[0] ?? {}
  )
}

function growText({ maxLength = Number.POSITIVE_INFINITY }: JsonSchema, budget: number): string {
  const bytes_per_letter = Buffer.byteLength(filler) / filler.length
  const length = Math.floor(Math.min(maxLength, budget / bytes_per_letter))
  return filler.repeat(Math.ceil(length / filler.length)).slice(0, length)
}

function growList(root: JsonSchema, { items = {}, maxItems }: JsonSchema, sample: unknown, budget: number): unknown {
  const first = Array.isArray(sample) ? (sample[0] as unknown) : undefined
  const count = Math.min(maxItems ?? 10_000, 10_000, Math.max(1, Math.floor(budget / 100)))
  const item = growValue(root, items, first, budget / count - level_bytes)
  if (item === undefined) return sample
  const fitting = Math.max(1, Math.min(count, Math.floor(budget / (JSON.stringify(item).length + 1))))
  return Array.from({ length: fitting }, (_, at) => numberTexts(item, at))
}

/** Makes items differ, since a repeated item may be refused at once. */
function numberTexts(item: unknown, at: number): unknown {
  if (typeof item === 'string') return `${at}${item}`.slice(0, Math.max(item.length, String(at).length))
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, numberTexts(value, at)]))
}

function growObject(root: JsonSchema, target: JsonSchema, sample: unknown, budget: number): unknown {
  const given = (typeof sample === 'object' && sample !== null ? sample : {}) as Record<string, unknown>
  const fields = Object.entries(target.properties ?? {})
  if (fields.length > 0) {
    const grown = fields.flatMap(([name, schema]) => {
      const value = growValue(root, schema, given[name], budget / fields.length)
      return value === undefined ? [] : [[name, value] as const]
    })
    return { ...given, ...Object.fromEntries(grown) }
  }
  const { additionalProperties: member } = target
  if (typeof member !== 'object') return sample
  const count = Math.min(5_000, Math.max(1, Math.floor(budget / 64)))
  const value = growValue(root, member, Object.values(given)[0], budget / count - 16)
  if (value === undefined) return sample
  const more = Array.from({ length: count }, (_, at) => [`key${at}`, value] as const)
  return { ...given, ...Object.fromEntries(more) }
}

/** Bodies that cost the most to parse and to refuse: many small values, deep nesting, and escapes that are looked at. */
export function buildHostileBodies(limit_bytes: number): readonly string[] {
  const fill = (unit: string) => unit.repeat(Math.floor((limit_bytes - 1_000) / unit.length))
  const depth = 60
  return [
    `{"x":[${fill('1,')}1]}`,
    `{"x":[${fill('{},')}{}]}`,
    `{"x":"${fill('\\u00e9')}"}`,
    `{"x":${'['.repeat(depth)}${fill('0,')}0${']'.repeat(depth)}}`,
    `{${Array.from({ length: Math.floor((limit_bytes - 1_000) / 12) }, (_, at) => `"k${at}":0`).join(',')}}`,
  ]
}
