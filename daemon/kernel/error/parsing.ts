// Parses by a schema and reports faults in plain words. No other file words the messages of the parser.
import * as z from 'zod'
import type { FieldError } from './errors.ts'
import { findNearestWord, nearestWord } from './nearest-word.ts'

export type ParseResult<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly errors: readonly FieldError[] }

/** Largest number of faults reported: the list answers untrusted input. */
const max_faults = 32
/** Longest field name that is compared with the known ones or quoted: the name is untrusted input as well. */
const max_name_characters = 64

export type ParseOptions = {
  /** True for a schema that parses a few values in the life of a process: to compile it takes longer than to parse them. */
  readonly isSeldom?: boolean
}

/**
 * The parsed value, or all faults with their paths (`policy.m`) in the order of the schema. Messages use only the
 * schema and the names of fields, never a value, since a value may be a secret.
 */
export function parseWithSchema<S extends z.ZodType>(
  schema: S,
  value: unknown,
  { isSeldom = false }: ParseOptions = {},
): ParseResult<z.output<S>> {
  const parsed = z.safeParse(schema, value, { error: describeIssue, jitless: isSeldom })
  if (parsed.success) return parsed
  return { success: false, errors: faultsOf(parsed.error.issues).slice(0, max_faults) }
}

/** The first faults as one line, for the end of a sentence. */
export function formatFieldErrors(errors: readonly FieldError[]): string {
  return errors
    .slice(0, 5)
    .map(({ path, message }) => (path ? `${path}: ${message}` : message))
    .join('; ')
}

type SchemaIssue = z.core.$ZodIssue

function faultsOf(issues: readonly SchemaIssue[], parentPath: readonly PropertyKey[] = []): FieldError[] {
  const faults: FieldError[] = []
  for (const issue of issues) {
    if (faults.length >= max_faults) break
    faults.push(...faultsOfIssue(issue, [...parentPath, ...issue.path]))
  }
  return faults
}

function faultsOfIssue(issue: SchemaIssue, path: readonly PropertyKey[]): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    const known = issue.message.split(separator)
    return issue.keys
      .slice(0, max_faults)
      .map((key) => ({ path: formatPath([...path, key]), message: unknownFieldMessage(key, known) }))
  }
  const inner = issue.code === 'invalid_union' ? closestBranch(issue.errors) : undefined
  return inner ? faultsOf(inner, path) : [{ path: formatPath(path), message: messageOf(issue) }]
}

function formatPath(path: readonly PropertyKey[]): string {
  return path.map((part) => clipName(String(part))).join('.')
}

function clipName(name: string): string {
  return name.length > max_name_characters ? `${name.slice(0, max_name_characters)}…` : name
}

function unknownFieldMessage(key: string, known: readonly string[]): string {
  const suggestion = key.length > max_name_characters ? '' : nearestWord(key, known)
  return suggestion === '' ? 'unknown field' : `unknown field; did you mean "${suggestion}"?`
}

/** The faults of the alternative that the value comes nearest to; undefined when its type fits no alternative. */
function closestBranch(branches: readonly (readonly SchemaIssue[])[]): readonly SchemaIssue[] | undefined {
  const fitting = branches.filter(
    (issues) => !issues.some(({ path, code }) => path.length === 0 && isTypeMismatch(code)),
  )
  const measured = fitting.map((issues) => ({ issues, edits: fitting.length === 1 ? 0 : measureUnknown(issues) }))
  return measured.toSorted((a, b) => a.edits - b.edits || a.issues.length - b.issues.length)[0]?.issues
}

/** Unknown fields of a value that are compared with those of each alternative: input decides how many there are. */
const max_measured_keys = 4

/** How far the fields of the value itself are from those of an alternative: the one that knows them, or nearly, is meant. */
function measureUnknown(issues: readonly SchemaIssue[]): number {
  let edits = 0
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys' || issue.path.length > 0) continue
    const known = issue.message.split(separator)
    for (const key of issue.keys.slice(0, max_measured_keys)) {
      edits += key.length > max_name_characters ? max_name_characters : findNearestWord(key, known).distance
    }
  }
  return edits
}

function isTypeMismatch(code: SchemaIssue['code']): boolean {
  return code === 'invalid_type' || code === 'invalid_value' || code === 'invalid_union'
}

function messageOf(issue: SchemaIssue): string {
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return joinAlternatives(issue.errors)
  if (issue.code === 'invalid_key') return `as a name ${issue.issues[0]?.message ?? 'is not valid'}`
  return issue.message
}

/** `must be a string or an object`, joined from the message of each shape. */
function joinAlternatives(branches: readonly (readonly SchemaIssue[])[]): string {
  const messages = branches.flatMap((issues) => issues.slice(0, 1).map(messageOf))
  const [first = 'is not valid', ...others] = [...new Set(messages)]
  return [first, ...others.map((each) => each.replace(/^must be /, ''))].join(' or ')
}

/** Separates the known names in the message of an unknown field, until the nearest is looked up. */
const separator = '\n'

type RawSchemaIssue = z.core.$ZodRawIssue

/**
 * The message of one issue. For an unknown field it lists the known fields: only reported faults are worth a search.
 */
function describeIssue(issue: RawSchemaIssue): string {
  if (issue.code === 'unrecognized_keys') return knownFieldNames(issue.inst).join(separator)
  if (issue.input === undefined && isTypeMismatch(issue.code)) return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return oneOf(issue.values)
    case 'invalid_union':
      return Array.isArray(issue.options) ? oneOf(issue.options) : 'is not valid'
    case 'too_small':
      return atLeast(issue)
    case 'too_big':
      return atMost(issue)
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_format':
      return issue.format === 'regex'
        ? `must match ${issue.pattern}`
        : `must be ${formatNames[issue.format] ?? issue.format}`
    default:
      return 'is not valid'
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

const formatNames: Readonly<Record<string, string>> = {
  datetime: 'a time as in 2026-05-03T12:00:00Z',
  date: 'a date as in 2026-05-03',
  base64url: 'base64url without padding',
  url: 'a URL',
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.map(String).join(', ')
  return values.length === 1 ? `must be ${shown}` : `must be one of ${shown}`
}

const units: Readonly<Record<string, string>> = { string: 'character', array: 'item' }

function atLeast({ origin, minimum, inclusive, exact }: RawSchemaIssue & { readonly code: 'too_small' }): string {
  const unit = units[origin]
  if (unit && exact) return `must have exactly ${formatCount(minimum, unit)}`
  if (unit) return Number(minimum) === 1 ? 'must not be empty' : `must have at least ${formatCount(minimum, unit)}`
  return inclusive ? `must be at least ${minimum}` : `must be more than ${minimum}`
}

function atMost({ origin, maximum, inclusive, exact }: RawSchemaIssue & { readonly code: 'too_big' }): string {
  const unit = units[origin]
  if (unit) return `must have ${exact ? 'exactly' : 'at most'} ${formatCount(maximum, unit)}`
  return inclusive ? `must be at most ${maximum}` : `must be less than ${maximum}`
}

function formatCount(count: number | bigint, unit: string): string {
  return `${count} ${unit}${Number(count) === 1 ? '' : 's'}`
}

/** The fields that the schema of an object knows. */
function knownFieldNames(inst: RawSchemaIssue['inst']): string[] {
  const { shape, keyType } = (inst?._zod.def ?? {}) as { shape?: object; keyType?: z.core.$ZodType }
  return shape ? Object.keys(shape) : [...(keyType?._zod.values ?? [])].map(String)
}
