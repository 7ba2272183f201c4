// Reads the fields of signals out of a source's JSON by the mapping of the profile.
import type * as z from 'zod'
import { type FieldError, isRefused, type Refused, refuse } from '../../../../kernel/errors.ts'
import { parseBy } from '../../../../kernel/parsing.ts'
import { type ItemFields, itemFields } from '../item/model.ts'
import type { From, Mapping } from './model.ts'

export type MappedItem = { readonly id: string | undefined; readonly fields: ItemFields }

export const most_items = 1_000

/** The member of a document that a JSON Pointer names; undefined for none. Only what the document itself has is found. */
export function pointed(document: unknown, pointer: string): unknown {
  let current = document
  for (const part of pointer.split('/').slice(1)) {
    if (typeof current !== 'object' || current === null) return undefined
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(current) ? !/^(0|[1-9]\d*)$/.test(name) : false) return undefined
    if (!Object.hasOwn(current, name)) return undefined
    current = (current as Readonly<Record<string, unknown>>)[name]
  }
  return current
}

/** The items of a document: the list that `items` names, or the document itself. Refuses what is no such list. */
export function itemsOf({ items }: Mapping, document: unknown): readonly unknown[] | Refused {
  if (items === undefined) return [document]
  const found = pointed(document, items)
  const fault = (message: string) =>
    refuse('invalid', `there is no list of items: ${message}`, [{ path: items, message }])
  if (!Array.isArray(found)) return fault('must be a list')
  return found.length > most_items ? fault(`must have at most ${most_items} items`) : found
}

/** All items of a document, or a refusal that names every fault by its path in the signal. */
export function mappedAll(mapping: Mapping, document: unknown): readonly MappedItem[] | Refused {
  const items = itemsOf(mapping, document)
  if (isRefused(items)) return items
  const mapped: MappedItem[] = []
  const errors: FieldError[] = []
  for (const [at, item] of items.entries()) {
    const one = mappedItem(mapping, item)
    const prefix = mapping.items === undefined ? '' : `${at}.`
    if (isRefused(one)) errors.push(...one.errors.map(({ path, message }) => ({ path: `${prefix}${path}`, message })))
    else mapped.push(one)
  }
  return errors.length > 0 ? refuse('invalid', unlike, errors.slice(0, 20)) : mapped
}

const unlike = 'what came is not what the mapping of this source expects'

export function mappedItem(mapping: Mapping, item: unknown): MappedItem | Refused {
  const { items: _items, id, subject, actor, metadata, ...plain } = mapping
  const found = (from: From | undefined) => (from === undefined ? undefined : valueAt(from, item))
  const each = (fields: object) =>
    defined(Object.fromEntries(Object.entries(fields).map(([name, from]) => [name, found(from as From | undefined)])))
  const { detected_at, expires_at, confidence, ...words } = each(plain)
  const about = texts(each(subject))
  const raw = {
    ...texts(words),
    ...defined({
      detected_at: instantOf(detected_at),
      expires_at: instantOf(expires_at),
      confidence: numberOf(confidence),
    }),
    subject: { ...about, name: about.name ?? about.id },
    ...(actor ? { actor: texts(each(actor)) } : {}),
    ...(metadata ? { metadata: each(metadata) } : {}),
  }
  const parsed = parseBy(itemFields as z.ZodType<ItemFields>, raw)
  const own = id === undefined ? undefined : textOf(pointed(item, id))
  const faults =
    id !== undefined && !isId(own) ? [{ path: 'id', message: `no id of 1 to 256 characters at ${id}` }] : []
  if (parsed.success && faults.length === 0) return { id: own as string | undefined, fields: parsed.data }
  return refuse('invalid', unlike, [...faults, ...(parsed.success ? [] : parsed.errors)])
}

/** What is wrong with constants of a mapping, which no document can mend; `path` within the mapping. */
export function mappingFaults(mapping: Mapping): FieldError[] {
  const { severity, subject, actor } = mapping
  const { shape } = itemFields
  return [
    ...outside('severity', severity, shape.severity.options),
    ...outside('subject.type', subject.type, shape.subject.shape.type.options),
    ...outside('actor.type', actor?.type, ['person', 'service', 'agent']),
  ]
}

function outside(path: string, from: From | undefined, options: readonly string[]): FieldError[] {
  return constantsOf(from)
    .filter((value) => !options.includes(String(value)))
    .map((value) => ({ path, message: `"${value}" is none of ${options.join(', ')}` }))
}

function constantsOf(from: From | undefined): readonly unknown[] {
  if (from === undefined || typeof from === 'string') return []
  if ('value' in from) return [from.value]
  return [...Object.values(from.values ?? {}), ...(from.otherwise === undefined ? [] : [from.otherwise])]
}

function valueAt(from: From, item: unknown): unknown {
  if (typeof from === 'string') return present(pointed(item, from))
  if ('value' in from) return from.value
  const found = present(pointed(item, from.at))
  if (from.values === undefined || found === undefined) return found ?? from.otherwise
  const word = String(found)
  return Object.hasOwn(from.values, word) ? from.values[word] : from.otherwise
}

/** JSON's null says that there is none. */
function present(value: unknown): unknown {
  return value === null ? undefined : value
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= 256
}

/** Numbers are ids and titles, too. */
function textOf(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
}

function texts(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, textOf(value)]))
}

function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value
}

/** Below this a number of 1970's clock counts seconds: as milliseconds it would be before 1973. */
const least_ms = 1e11

function instantOf(value: unknown): unknown {
  const number = numberOf(value)
  if (typeof number !== 'number') return value
  const at = new Date(number < least_ms ? number * 1_000 : number)
  return Number.isNaN(at.getTime()) ? value : at.toISOString()
}

function defined(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
