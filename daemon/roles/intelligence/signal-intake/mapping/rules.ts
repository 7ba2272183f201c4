// Extracts the fields of signals from a source's JSON by the mapping of the profile.
import type * as z from 'zod'
import { type FieldError, isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { parseWithSchema } from '../../../../kernel/error/parsing.ts'
import { type ItemFields, itemFields } from '../item/model.ts'
import type { FieldMapping, SignalMapping } from './model.ts'

export type MappedItem = { readonly id: string | undefined; readonly fields: ItemFields }

export const max_items = 1_000

/** The value at a JSON Pointer; undefined when there is none. Only own members are found. */
export function resolvePointer(document: unknown, pointer: string): unknown {
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

/** The items of a document: the list at `items`, or the document itself. Refuses a document without such a list. */
export function selectItems({ items }: SignalMapping, document: unknown): readonly unknown[] | Refusal {
  if (items === undefined) return [document]
  const value = resolvePointer(document, items)
  const fault = (message: string) =>
    refuse('invalid', `the document has no list of items: ${message}`, [{ path: items, message }])
  if (!Array.isArray(value)) return fault('must be a list')
  return value.length > max_items ? fault(`must have at most ${max_items} items`) : value
}

/** All items of a document, or a refusal that names every fault by its path in the signal. */
export function mapDocument(mapping: SignalMapping, document: unknown): readonly MappedItem[] | Refusal {
  const items = selectItems(mapping, document)
  if (isRefusal(items)) return items
  const mapped: MappedItem[] = []
  const errors: FieldError[] = []
  for (const [at, item] of items.entries()) {
    const mappedItem = mapItem(mapping, item)
    const prefix = mapping.items === undefined ? '' : `${at}.`
    if (isRefusal(mappedItem))
      errors.push(...mappedItem.errors.map(({ path, message }) => ({ path: `${prefix}${path}`, message })))
    else mapped.push(mappedItem)
  }
  return errors.length > 0 ? refuse('invalid', mappingMismatch, errors.slice(0, 20)) : mapped
}

const mappingMismatch = 'the document does not match the mapping of this source'

export function mapItem(mapping: SignalMapping, item: unknown): MappedItem | Refusal {
  const { items: _items, id, subject, actor, metadata, ...fieldMappings } = mapping
  const value = (from: FieldMapping | undefined) => (from === undefined ? undefined : resolveField(from, item))
  const each = (fields: object) =>
    omitUndefined(
      Object.fromEntries(Object.entries(fields).map(([name, from]) => [name, value(from as FieldMapping | undefined)])),
    )
  const { detected_at, expires_at, confidence, ...words } = each(fieldMappings)
  const subjectTexts = toTexts(each(subject))
  const raw = {
    ...toTexts(words),
    ...omitUndefined({
      detected_at: toInstant(detected_at),
      expires_at: toInstant(expires_at),
      confidence: toNumber(confidence),
    }),
    subject: { ...subjectTexts, name: subjectTexts.name ?? subjectTexts.id },
    ...(actor ? { actor: toTexts(each(actor)) } : {}),
    ...(metadata ? { metadata: each(metadata) } : {}),
  }
  const parsed = parseWithSchema(itemFields as z.ZodType<ItemFields>, raw)
  const itemId = id === undefined ? undefined : toText(resolvePointer(item, id))
  const faults =
    id !== undefined && !isItemId(itemId)
      ? [{ path: 'id', message: `there is no id of 1 to 256 characters at ${id}` }]
      : []
  if (parsed.success && faults.length === 0) return { id: itemId as string | undefined, fields: parsed.data }
  return refuse('invalid', mappingMismatch, [...faults, ...(parsed.success ? [] : parsed.errors)])
}

/** Faults of the constants of a mapping, which no document can repair; `path` within the mapping. */
export function findMappingFaults(mapping: SignalMapping): FieldError[] {
  const { severity, subject, actor } = mapping
  const { shape } = itemFields
  return [
    ...findInvalidConstants('severity', severity, shape.severity.options),
    ...findInvalidConstants('subject.type', subject.type, shape.subject.shape.type.options),
    ...findInvalidConstants('actor.type', actor?.type, ['person', 'service', 'agent']),
  ]
}

function findInvalidConstants(path: string, from: FieldMapping | undefined, options: readonly string[]): FieldError[] {
  return listConstants(from)
    .filter((value) => !options.includes(String(value)))
    .map((value) => ({ path, message: `"${value}" is not one of ${options.join(', ')}` }))
}

function listConstants(from: FieldMapping | undefined): readonly unknown[] {
  if (from === undefined || typeof from === 'string') return []
  if ('value' in from) return [from.value]
  return [...Object.values(from.values ?? {}), ...(from.otherwise === undefined ? [] : [from.otherwise])]
}

function resolveField(from: FieldMapping, item: unknown): unknown {
  if (typeof from === 'string') return nullToUndefined(resolvePointer(item, from))
  if ('value' in from) return from.value
  const value = nullToUndefined(resolvePointer(item, from.at))
  if (from.values === undefined || value === undefined) return value ?? from.otherwise
  const word = String(value)
  return Object.hasOwn(from.values, word) ? from.values[word] : from.otherwise
}

/** JSON null means an absent value. */
function nullToUndefined(value: unknown): unknown {
  return value === null ? undefined : value
}

function isItemId(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= 256
}

/** Numbers are allowed as ids and titles. */
function toText(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
}

function toTexts(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toText(value)]))
}

function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value
}

/** Smaller numbers are seconds since 1970; as milliseconds they would be before 1973. */
const min_epoch_ms = 1e11

function toInstant(value: unknown): unknown {
  const number = toNumber(value)
  if (typeof number !== 'number') return value
  const at = new Date(number < min_epoch_ms ? number * 1_000 : number)
  return Number.isNaN(at.getTime()) ? value : at.toISOString()
}

function omitUndefined(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
