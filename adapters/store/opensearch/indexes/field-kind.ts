// Derives the cluster type of each index field from the schema of its documents, and the indexed value of a field.
import * as z from 'zod'
import { sha256 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { labelKeyOf, type Scalar, type StoredFields } from '../../../../daemon/kernel/store/store.ts'

/** All numbers are doubles, as they are in every JSON that we read. */
export type FieldKind = 'keyword' | 'double' | 'boolean'
export type FieldKinds = ReadonlyMap<string, FieldKind>

/** Fields that every document is found by, in the order of their declaration. */
export const fixedKinds: FieldKinds = new Map([
  ['tenant_id', 'keyword'],
  ['label_key', 'keyword'],
  ['expires_ts', 'double'],
])

const fieldPattern = /^[A-Za-z][A-Za-z0-9_]*$/

/** @throws when a field has no scalar type of its own, or more than one: such a field cannot be an index here. */
export function deriveFieldKinds(schema: z.ZodType, indexes: readonly string[]): Map<string, FieldKind> {
  const json = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any', cycles: 'ref' })
  const kinds = new Map<string, FieldKind>()
  for (const field of indexes.filter((each) => !fixedKinds.has(each))) {
    if (!fieldPattern.test(field)) throw new Error(`an index cannot be named ${field}`)
    const found = new Set(findMembers(json, field).flatMap((member) => [...kindsOfSchema(member)]))
    const [kind] = found
    if (!kind || found.size > 1)
      throw new Error(`the index ${field} must hold texts, numbers or booleans, and only one`)
    kinds.set(field, kind)
  }
  return kinds
}

type JsonSchemaNode = Readonly<Record<string, unknown>>

/** The forms that a value of this field may have in a document. */
function findMembers(schema: JsonSchemaNode, field: string): JsonSchemaNode[] {
  const own = (schema.properties as Record<string, JsonSchemaNode> | undefined)?.[field]
  return [...(own ? [own] : []), ...listVariants(schema).flatMap((variant) => findMembers(variant, field))]
}

function listVariants(schema: JsonSchemaNode): JsonSchemaNode[] {
  return [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) =>
    Array.isArray(list) ? (list as JsonSchemaNode[]) : [],
  )
}

const kindByType: Readonly<Record<string, FieldKind>> = {
  string: 'keyword',
  number: 'double',
  integer: 'double',
  boolean: 'boolean',
}

function kindsOfSchema(schema: JsonSchemaNode): Set<FieldKind> {
  const values = schema.const === undefined ? ((schema.enum as unknown[]) ?? []) : [schema.const]
  const types = [schema.type, ...values.map((value) => typeof value)].flat().map(String)
  const own = types.flatMap((type) => kindByType[type] ?? [])
  return new Set([...own, ...listVariants(schema).flatMap((variant) => [...kindsOfSchema(variant)])])
}

export function kindOfValue(value: Scalar): FieldKind {
  return typeof value === 'string' ? 'keyword' : typeof value === 'number' ? 'double' : 'boolean'
}

/** Lucene takes terms of 32,766 bytes. Shorter texts stand for themselves; keys of longer ones are longer than any of them. */
const max_text_bytes = 32_000

/**
 * The form of a value in an index: equal for equal values alone, and ordered as they are by the bytes of their UTF-8.
 * Texts that share their first 32,000 bytes are ordered by digest.
 */
export function indexKey(value: Scalar): Scalar {
  if (typeof value !== 'string' || value.length * 3 <= max_text_bytes) return value
  const bytes = Buffer.from(value)
  if (bytes.length <= max_text_bytes) return value
  let end = max_text_bytes
  // Never inside a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return `${bytes.toString('utf8', 0, end)}${sha256(value)}`
}

/** Whether a key is that of a text too long to stand for itself. */
export function isShortened(key: Scalar): boolean {
  return typeof key === 'string' && Buffer.byteLength(key) > max_text_bytes
}

/** The index fields of a document; absent where the document has none. */
export function buildFields(value: StoredFields, kinds: FieldKinds): Record<string, Scalar> {
  const found: Record<string, Scalar> = {
    tenant_id: indexKey(value.tenant_id),
    label_key: indexKey(labelKeyOf(value)),
    ...(value.expires_ts === undefined || value.expires_ts === null ? {} : { expires_ts: value.expires_ts }),
  }
  for (const [field, kind] of kinds) {
    const member = (value as Record<string, unknown>)[field] as Scalar | null | undefined
    if (fixedKinds.has(field) || member === undefined || member === null) continue
    if (kindOfValue(member) !== kind) throw new TypeError(`the index ${field} holds ${kind} alone`)
    found[field] = indexKey(member)
  }
  return found
}
