// The fields of a tool by its input schema, which another service may have written: read within bounds, believed in nothing.
import * as z from 'zod'

export type ToolField = {
  readonly name: string
  readonly isRequired: boolean
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'other'
  /** Values that it takes, where the schema lists them. */
  readonly values: readonly string[]
  readonly description: string | undefined
}

const max_fields = 64
const max_values = 64

const fieldSchema = z.looseObject({
  type: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  items: z.unknown().optional(),
  description: z.string().optional().catch(undefined),
  $ref: z.string().optional(),
})
const objectSchema = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional().catch(undefined),
  required: z.array(z.string()).optional().catch(undefined),
  $defs: z.record(z.string(), z.unknown()).optional().catch(undefined),
})

export function listFields(input_schema: unknown): readonly ToolField[] {
  const parsed = objectSchema.safeParse(input_schema)
  if (!parsed.success) return []
  const { properties = {}, required = [], $defs = {} } = parsed.data
  return Object.entries(properties)
    .slice(0, max_fields)
    .map(([name, schema]) => readField(name, schema, required.includes(name), $defs))
}

function readField(
  name: string,
  schema: unknown,
  isRequired: boolean,
  definitions: Readonly<Record<string, unknown>>,
): ToolField {
  const field = fieldSchema.safeParse(schema).data ?? {}
  const shared = field.$ref?.replace(/^#\/\$defs\//, '')
  const of =
    shared !== undefined && Object.hasOwn(definitions, shared) ? fieldSchema.safeParse(definitions[shared]).data : field
  const type = fieldTypes.find((each) => each === of?.type) ?? 'other'
  const items = type === 'array' ? fieldSchema.safeParse(of?.items).data : of
  const values = (items?.enum ?? []).filter((value) => typeof value === 'string').slice(0, max_values)
  return { name, isRequired, type, values, description: field.description ?? of?.description }
}

const fieldTypes = ['string', 'number', 'integer', 'boolean', 'array'] as const
