// Whether a value fits a JSON Schema of a front end: an interpreter with a budget. It makes no code and compiles no pattern of a
// caller, and neither a deep schema nor one that refers to itself holds the event loop.
import { canonicalJson } from '../../../../kernel/encoding/canonical-json.ts'

/** Undefined: the budget was not enough, or a keyword decides that is not interpreted here. */
export type SchemaMatch = boolean | undefined

type SchemaObject = Readonly<Record<string, unknown>>
type SchemaRun = { readonly root: unknown; steps: number }

const max_steps = 10_000
const max_depth = 32

/** Undefined too for a schema that says nothing of a value, such as one that only names an intent. */
export function matchSchema(schema: unknown, value: unknown): SchemaMatch {
  if (!isObject(schema) || !Object.keys(schema).some((name) => Object.hasOwn(keywords, name) || undecided.has(name)))
    return undefined
  return matchNode({ root: schema, steps: max_steps }, schema, value, 0)
}

/** Kleene's logic: what is not known stays so, unless the rest decides. */
function all(results: Iterable<SchemaMatch>): SchemaMatch {
  let isKnown = true
  for (const result of results) {
    if (result === false) return false
    if (result === undefined) isKnown = false
  }
  return isKnown ? true : undefined
}

const not = (result: SchemaMatch): SchemaMatch => (result === undefined ? undefined : !result)
const any = (results: Iterable<SchemaMatch>): SchemaMatch => not(all(negate(results)))

function* negate(results: Iterable<SchemaMatch>): Generator<SchemaMatch> {
  for (const result of results) yield not(result)
}

function matchNode(run: SchemaRun, schema: unknown, value: unknown, depth: number): SchemaMatch {
  run.steps -= 1
  if (run.steps < 0 || depth > max_depth) return undefined
  if (typeof schema === 'boolean') return schema
  if (!isObject(schema)) return undefined
  return all(matchKeywords(run, schema, value, depth))
}

function* matchKeywords(run: SchemaRun, schema: SchemaObject, value: unknown, depth: number): Generator<SchemaMatch> {
  for (const name of Object.keys(schema)) {
    run.steps -= 1
    const match = (of: unknown, part: unknown) => matchNode(run, of, part, depth + 1)
    const keyword = Object.hasOwn(keywords, name) ? keywords[name] : undefined
    if (keyword) yield keyword({ run, schema, value, match }, schema[name])
    else if (undecided.has(name)) yield undefined
  }
}

type KeywordStep = {
  readonly run: SchemaRun
  readonly schema: SchemaObject
  readonly value: unknown
  readonly match: (schema: unknown, value: unknown) => SchemaMatch
}
type Keyword = (step: KeywordStep, given: unknown) => SchemaMatch

/** Assertions that are left out: patterns, and those that front ends hardly use. What they would say is not known. */
const undecided: ReadonlySet<string> = new Set([
  ...['pattern', 'patternProperties', 'propertyNames', 'dependentRequired', 'dependentSchemas', 'dependencies', 'if'],
  ...['contains', 'uniqueItems', 'multipleOf', 'unevaluatedItems', 'unevaluatedProperties', '$dynamicRef'],
])

const bound =
  (measure: (value: unknown) => number | undefined, holds: (size: number, limit: number) => boolean): Keyword =>
  ({ value }, limit) => {
    const size = measure(value)
    if (typeof limit !== 'number') return undefined
    return size === undefined || holds(size, limit)
  }
const numberOf = (value: unknown) => (typeof value === 'number' ? value : undefined)
const itemsOf = (value: unknown) => (Array.isArray(value) ? value.length : undefined)
const membersOf = (value: unknown) => (isObject(value) ? Object.keys(value).length : undefined)
/** Code points, as the standard counts them. */
const charactersOf = (value: unknown) => (typeof value === 'string' ? [...value].length : undefined)
const atLeast = (size: number, limit: number) => size >= limit
const atMost = (size: number, limit: number) => size <= limit

const keywords: Readonly<Record<string, Keyword>> = {
  type: ({ value }, given) => {
    const types: readonly unknown[] = Array.isArray(given) ? given : [given]
    return types.some((type) => isOfType(value, type))
  },
  enum: ({ run, value }, given) => (Array.isArray(given) ? any(equalities(run, given, value)) : undefined),
  const: ({ run, value }, given) => any(equalities(run, [given], value)),
  required: ({ value }, given) =>
    !isObject(value) || !Array.isArray(given) || given.every((name) => Object.hasOwn(value, String(name))),
  properties: ({ value, match }, given) =>
    !isObject(value) || !isObject(given)
      ? true
      : all(
          entriesOf(
            given,
            (name) => Object.hasOwn(value, name),
            ([name, of]) => match(of, value[name]),
          ),
        ),
  additionalProperties: ({ schema, value, match }, given) => {
    if (!isObject(value)) return true
    const known = isObject(schema.properties) ? schema.properties : {}
    const isMore = (name: string) => !Object.hasOwn(known, name)
    const rest = all(entriesOf(value, isMore, ([, member]) => match(given, member)))
    // A pattern may have named what is left.
    return rest === false && 'patternProperties' in schema ? undefined : rest
  },
  prefixItems: ({ value, match }, given) =>
    Array.isArray(value) && Array.isArray(given)
      ? all(lazily(given.slice(0, value.length), (of, at) => match(of, value[at])))
      : true,
  items: ({ schema, value, match }, given) => {
    if (!Array.isArray(value)) return true
    // Before 2020, a list of schemas was the prefix.
    if (Array.isArray(given)) return undefined
    const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems.length : 0
    return all(lazily(value.slice(prefix), (item) => match(given, item)))
  },
  minimum: bound(numberOf, atLeast),
  maximum: bound(numberOf, atMost),
  exclusiveMinimum: bound(numberOf, (size, limit) => size > limit),
  exclusiveMaximum: bound(numberOf, (size, limit) => size < limit),
  minLength: bound(charactersOf, atLeast),
  maxLength: bound(charactersOf, atMost),
  minItems: bound(itemsOf, atLeast),
  maxItems: bound(itemsOf, atMost),
  minProperties: bound(membersOf, atLeast),
  maxProperties: bound(membersOf, atMost),
  allOf: ({ value, match }, given) => (Array.isArray(given) ? all(lazily(given, (of) => match(of, value))) : undefined),
  anyOf: ({ value, match }, given) => (Array.isArray(given) ? any(lazily(given, (of) => match(of, value))) : undefined),
  oneOf: ({ value, match }, given) => {
    if (!Array.isArray(given)) return undefined
    const results = [...lazily(given, (of) => match(of, value))]
    const fitting = results.filter((result) => result === true).length
    if (fitting > 1) return false
    return results.includes(undefined) ? undefined : fitting === 1
  },
  not: ({ value, match }, given) => not(match(given, value)),
  $ref: ({ run, value, match }, given) => {
    const target = typeof given === 'string' ? findLocal(run, given) : undefined
    return target === undefined ? undefined : match(target, value)
  },
}

function* lazily<T>(given: readonly T[], match: (each: T, at: number) => SchemaMatch): Generator<SchemaMatch> {
  for (const [at, each] of given.entries()) yield match(each, at)
}

function* entriesOf(
  of: SchemaObject,
  isOf: (name: string) => boolean,
  match: (entry: [string, unknown]) => SchemaMatch,
): Generator<SchemaMatch> {
  for (const entry of Object.entries(of)) if (isOf(entry[0])) yield match(entry)
}

/** Texts of values are paid for by their length, since a schema may compare the same ones again and again. */
function* equalities(run: SchemaRun, given: readonly unknown[], value: unknown): Generator<SchemaMatch> {
  const isScalar = typeof value !== 'object' || value === null
  const text = isScalar ? '' : canonicalJson(value)
  run.steps -= Math.ceil(text.length / 64)
  for (const each of given) {
    run.steps -= 1
    if (run.steps < 0) yield undefined
    else if (isScalar) yield each === value
    else {
      const other = canonicalJson(each)
      run.steps -= Math.ceil(other.length / 64)
      yield other === text
    }
  }
}

const max_pointer = 16

/** Of the same schema alone, such as `#/$defs/ship`. */
function findLocal(run: SchemaRun, reference: string): unknown {
  if (reference === '#') return run.root
  if (!reference.startsWith('#/')) return undefined
  let found = run.root
  for (const name of reference.slice(2).split('/', max_pointer)) {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as SchemaObject)[key]
  }
  return found
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  return typeof value === type && ['string', 'number', 'boolean'].includes(String(type))
}

function isObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
