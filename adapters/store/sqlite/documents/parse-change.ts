// Validates a changed document; parts shared with a valid predecessor are skipped.
import * as z from 'zod'

/**
 * Returns `next` as the schema parses it. `before` must have passed the schema and must not have changed since; members
 * and elements that are identical objects in `before` are not validated again. @throws ZodError.
 */
export function parseChange<T>(schema: z.ZodType<T>, before: T, next: T): T {
  return isValid(schema, before, next) ? next : schema.parse(next)
}

/** False also where only a parse of the whole document can decide. */
function isValid(schema: z.core.$ZodType, before: unknown, next: unknown): boolean {
  if (before === next) return true
  if (hasChecks(schema) || !isObject(before) || !isObject(next)) return accepts(schema, next)
  if (schema instanceof z.ZodObject) return isObjectValid(schema, before, next)
  if (schema instanceof z.ZodArray && Array.isArray(before) && Array.isArray(next)) {
    return isArrayValid(schema.element, before, next)
  }
  return accepts(schema, next)
}

/** Checks of a whole object or array see more than what changed of it. */
function hasChecks(schema: z.core.$ZodType): boolean {
  return (schema._zod.def.checks?.length ?? 0) > 0
}

function isObjectValid(schema: z.ZodObject, before: object, next: object): boolean {
  if (Object.getPrototypeOf(next) !== Object.prototype) return false
  const shape: Record<string, z.core.$ZodType> = schema.shape
  for (const key of Object.keys(next)) if (!Object.hasOwn(shape, key)) return false
  const was = before as Record<string, unknown>
  const is = next as Record<string, unknown>
  for (const key of listMembers(schema)) {
    const member = shape[key]
    if (is[key] !== was[key] && (!member || !isValid(member, was[key], is[key]))) return false
  }
  return true
}

const cachedMembers = new WeakMap<z.ZodObject, readonly string[]>()

function listMembers(schema: z.ZodObject): readonly string[] {
  const known = cachedMembers.get(schema) ?? Object.keys(schema.shape)
  cachedMembers.set(schema, known)
  return known
}

function isArrayValid(element: z.core.$ZodType, before: readonly unknown[], next: readonly unknown[]): boolean {
  const sound = new Set(before)
  return next.every((item) => (isObject(item) && sound.has(item)) || accepts(element, item))
}

function accepts(schema: z.core.$ZodType, value: unknown): boolean {
  return z.safeParse(schema, value).success
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
