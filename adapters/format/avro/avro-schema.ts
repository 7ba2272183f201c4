// The schema of an Avro file, resolved: each type once, with its names replaced by what they stand for.
import * as z from 'zod'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'

export type AvroType =
  | {
      readonly kind: 'primitive'
      readonly type: PrimitiveName
      readonly logical: string | undefined
      readonly scale: number
    }
  | { readonly kind: 'fixed'; readonly size: number; readonly logical: string | undefined; readonly scale: number }
  | { readonly kind: 'enum'; readonly symbols: readonly string[] }
  | { readonly kind: 'array' | 'map'; readonly items: AvroType }
  | { readonly kind: 'union'; readonly branches: readonly AvroType[] }
  | AvroRecord

/** `fields` of a type that contains itself are complete when the whole schema is. */
export type AvroRecord = { readonly kind: 'record'; readonly fields: AvroField[] }
export type AvroField = { readonly name: string; readonly type: AvroType }

const primitives = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'] as const
export type PrimitiveName = (typeof primitives)[number]

const max_depth = 64
const max_types = 16_384

const named = z.looseObject({ name: z.string().min(1), namespace: z.string().optional() })
const field = z.looseObject({ name: z.string().min(1), type: z.unknown() })
const logicalType = { logicalType: z.string().optional(), scale: z.int().min(0).max(76).default(0) }
const shapes = {
  record: named.extend({ fields: z.array(field) }),
  enum: named.extend({ symbols: z.array(z.string()).min(1) }),
  fixed: named.extend({ size: z.int().min(0), ...logicalType }),
  array: z.looseObject({ items: z.unknown() }),
  map: z.looseObject({ values: z.unknown() }),
  primitive: z.looseObject(logicalType),
}

/** Returns the record that each value of the file is. Throws `DataFault`. */
export function parseAvroSchema(text: string): AvroRecord {
  let schema: unknown
  try {
    schema = JSON.parse(text)
  } catch {
    throw new DataFault('damaged: its schema is not JSON')
  }
  const type = new SchemaResolver().resolve(schema, '', 0)
  if (type.kind !== 'record') throw new DataFault(`its values are of the type ${type.kind}, and not records`)
  return type
}

class SchemaResolver {
  readonly #names = new Map<string, AvroType>()
  #count = 0

  resolve(schema: unknown, namespace: string, depth: number): AvroType {
    if (depth > max_depth) throw new DataFault('its schema is nested too deeply')
    if (++this.#count > max_types) throw new DataFault(`its schema has more than ${max_types} types`)
    if (typeof schema === 'string') return this.#find(schema, namespace)
    if (Array.isArray(schema))
      return { kind: 'union', branches: schema.map((each) => this.resolve(each, namespace, depth + 1)) }
    if (typeof schema !== 'object' || schema === null || !('type' in schema)) throw schemaFault('a type is missing')
    return this.#resolveObject(schema as { type: unknown }, namespace, depth)
  }

  #find(name: string, namespace: string): AvroType {
    if (isPrimitive(name)) return { kind: 'primitive', type: name, logical: undefined, scale: 0 }
    const found = this.#names.get(fullName(name, namespace)) ?? this.#names.get(name)
    if (!found) throw schemaFault(`the type ${JSON.stringify(name.slice(0, 64))} is not defined`)
    return found
  }

  #resolveObject(schema: { readonly type: unknown }, namespace: string, depth: number): AvroType {
    switch (schema.type) {
      case 'record':
      case 'error':
        return this.#resolveRecord(parse(shapes.record, schema), namespace, depth)
      case 'enum': {
        const { symbols, ...names } = parse(shapes.enum, schema)
        return this.#define(names, namespace, { kind: 'enum', symbols })
      }
      case 'fixed': {
        const { size, logicalType: logical, scale, ...names } = parse(shapes.fixed, schema)
        return this.#define(names, namespace, { kind: 'fixed', size, logical, scale })
      }
      case 'array':
        return { kind: 'array', items: this.resolve(parse(shapes.array, schema).items, namespace, depth + 1) }
      case 'map':
        return { kind: 'map', items: this.resolve(parse(shapes.map, schema).values, namespace, depth + 1) }
      default:
        return this.#resolveOther(schema, namespace, depth)
    }
  }

  /** A primitive type with attributes, or a type within `type`. */
  #resolveOther(schema: { readonly type: unknown }, namespace: string, depth: number): AvroType {
    const { type } = schema
    if (typeof type !== 'string' || !isPrimitive(type)) return this.resolve(type, namespace, depth + 1)
    const { logicalType: logical, scale } = parse(shapes.primitive, schema)
    return { kind: 'primitive', type, logical, scale }
  }

  #resolveRecord(schema: z.output<typeof shapes.record>, namespace: string, depth: number): AvroType {
    const record: AvroRecord = { kind: 'record', fields: [] }
    this.#define(schema, namespace, record)
    const names = new Set(schema.fields.map(({ name }) => name))
    if (names.size < schema.fields.length) throw schemaFault('two fields of a record have one name')
    const inner = namespaceOf(schema, namespace)
    for (const { name, type } of schema.fields) record.fields.push({ name, type: this.resolve(type, inner, depth + 1) })
    return record
  }

  /** Known before its fields are, which may be of the type itself. */
  #define(names: z.output<typeof named>, namespace: string, type: AvroType): AvroType {
    this.#names.set(fullName(names.name, namespaceOf(names, namespace)), type)
    return type
  }
}

function parse<T extends z.ZodType>(shape: T, schema: unknown): z.output<T> {
  const parsed = shape.safeParse(schema)
  if (parsed.success) return parsed.data
  throw schemaFault(`${parsed.error.issues[0]?.path.join('.') ?? 'it'} is not as Avro defines it`)
}

function schemaFault(reason: string): DataFault {
  return new DataFault(`damaged: its schema is not one of Avro: ${reason}`)
}

function isPrimitive(name: string): name is PrimitiveName {
  return (primitives as readonly string[]).includes(name)
}

function fullName(name: string, namespace: string): string {
  return name.includes('.') || namespace === '' ? name : `${namespace}.${name}`
}

function namespaceOf({ name, namespace }: z.output<typeof named>, outer: string): string {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? (namespace ?? outer) : name.slice(0, dot)
}
