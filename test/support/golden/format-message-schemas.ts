// Writes docs/message-schemas.md from the schemas of the messages themselves: members, types and ranges of each kind.
import * as z from 'zod'

/** `name`: of the body's schema. */
export type MessageSchema = { readonly kind: string; readonly name: string; readonly data: z.ZodType }

const head = `# Bodies of messages

Generated from the code by \`npm run accept\`; do not edit. The \`data\` of each kind of message; the envelope, the statement and
the body around it are in [filedrop-format.md](filedrop-format.md). Objects have exactly these members. \`?\` marks a member that may
be absent, \`[]\` the items of a list, and a kind with several forms has a table for each. A length counts UTF-16 code units. A
pattern is a regular expression of ECMAScript; \`\\S\` alone means that the text is not blank. A whole number may be written in any
form of JSON (\`1\`, \`1.0\`, \`1e0\`), and is at most 2^53 - 1. A time is as in [filedrop-format.md](filedrop-format.md#names-and-times). A body has at
most 40,000 values, 1,000 names of members and 200,000 escapes, whatever the lengths of its lists allow: [filedrop-format.md](filedrop-format.md#body).
`

type BodySchema = {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, BodySchema>>
  readonly required?: readonly string[]
  readonly items?: BodySchema
  readonly prefixItems?: readonly BodySchema[]
  readonly anyOf?: readonly BodySchema[]
  readonly oneOf?: readonly BodySchema[]
  readonly description?: string
  readonly default?: unknown
} & Readonly<Record<string, unknown>>

type MemberRow = { readonly path: string; readonly type: string; readonly meaning: string }

export function formatMessageSchemas(schemas: readonly MessageSchema[]): string {
  return [head, ...schemas.map(formatSection)].join('\n')
}

/** Described once, on another page. */
const described: Readonly<Record<string, string>> = {
  Label: '[label](filedrop-format.md#label)',
  EvidenceBlock: '[evidence block](consensus.md#evidence-block)',
}

function formatSection({ kind, name, data }: MessageSchema): string {
  const { $defs = {}, ...root } = z.toJSONSchema(data, { io: 'input', unrepresentable: 'any' })
  const schema = resolveReferences(root as BodySchema, $defs as Readonly<Record<string, BodySchema>>)
  const tables = alternativesOf(schema).map((each) => formatTable(listMembers(each, '')))
  return [`## ${kind}`, '', `Schema \`${name}\`.`, '', tables.join('\n\n'), ''].join('\n')
}

/** With each reference replaced by its schema, or by the name of the page that describes it. */
function resolveReferences(schema: BodySchema, defs: Readonly<Record<string, BodySchema>>): BodySchema {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    const { $ref, ...rest } = value as { $ref?: string }
    if ($ref === undefined)
      return Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, resolve(member)]))
    const id = $ref.slice($ref.lastIndexOf('/') + 1)
    const page = described[id]
    return page === undefined ? resolve({ ...defs[id], ...rest }) : { page, ...rest }
  }
  return resolve(schema) as BodySchema
}

function formatTable(rows: readonly MemberRow[]): string {
  const lines = rows.map(({ path, type, meaning }) => `| \`${path}\` | ${escapeCell(type)} | ${escapeCell(meaning)} |`)
  return ['| member | value | meaning |', '|---|---|---|', ...lines].join('\n')
}

const escapeCell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function alternativesOf(schema: BodySchema): readonly BodySchema[] {
  return schema.oneOf ?? schema.anyOf ?? [schema]
}

function listMembers(schema: BodySchema, path: string): MemberRow[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([name, member]) => {
    const mark = required.includes(name) ? '' : '?'
    const at = path === '' ? `${name}${mark}` : `${path}.${name}${mark}`
    return [{ path: at, type: formatType(member), meaning: member.description ?? '' }, ...listNested(member, at)]
  })
}

/** The members of an object, of the items of a list, or of each alternative. */
function listNested(schema: BodySchema, path: string): MemberRow[] {
  if (schema.properties) return listMembers(schema, path)
  const items = itemsOf(schema)
  if (items) return listNested(items, `${path}[]`)
  const objects = alternativesOf(schema).filter((each) => each !== schema && each.properties)
  return objects.flatMap((each) => listMembers(each, path))
}

/** The items of a tuple are all of one form. */
function itemsOf({ items, prefixItems = [] }: BodySchema): BodySchema | undefined {
  return prefixItems[0] ?? items
}

function formatType(schema: BodySchema): string {
  if (typeof schema.page === 'string') return schema.page
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map((value) => `\`${String(value)}\``).join(', ')
  const alternatives = alternativesOf(schema)
  if (alternatives.length > 1 || alternatives[0] !== schema) {
    return [...new Set(alternatives.map(formatType))].join(' or ')
  }
  if (typeof schema.type === 'object') return schema.type.map((type) => formatType({ ...schema, type })).join(' or ')
  const format = schema.type === undefined ? undefined : formats[schema.type]
  return format ? format(schema) : 'any JSON value'
}

const formats: Readonly<Record<string, (schema: BodySchema) => string>> = {
  string: (schema) => {
    if (schema.format === 'date-time') return 'time'
    const pattern = schema.pattern === undefined ? '' : `, matching \`${String(schema.pattern)}\``
    return `text${formatRange(schema.minLength, schema.maxLength, 'characters')}${pattern}`
  },
  integer: (schema) => `whole number${formatRange(schema.minimum, schema.maximum)}`,
  number: (schema) => {
    const above = schema.exclusiveMinimum === undefined ? '' : ` above ${String(schema.exclusiveMinimum)}`
    return `number${above}${formatRange(schema.minimum, schema.maximum)}`
  },
  boolean: () => 'true or false',
  null: () => 'null',
  array: (schema) => {
    const item = itemsOf(schema) ?? {}
    const items = item.properties ? 'objects' : `(${formatType(item)})`
    return `list of ${items}${formatRange(schema.minItems, schema.maxItems, 'items')}`
  },
  object: () => 'object',
}

function formatRange(low: unknown, high: unknown, unit = ''): string {
  const end = high === Number.MAX_SAFE_INTEGER ? undefined : high
  const start = low === Number.MIN_SAFE_INTEGER ? undefined : low
  const of = unit === '' ? '' : ` ${unit}`
  if (start !== undefined && end !== undefined) return `, ${String(start)} to ${String(end)}${of}`
  if (end !== undefined) return `, at most ${String(end)}${of}`
  return start === undefined ? '' : `, at least ${String(start)}${of}`
}
