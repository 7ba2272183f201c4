// Messages about invalid values are plain, name the path, and never quote the value.
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { formatFieldErrors, parseWithSchema } from './parsing.ts'

const faults = (schema: z.ZodType, value: unknown) => {
  const parsed = parseWithSchema(schema, value)
  return parsed.success ? [] : parsed.errors
}
const word = (schema: z.ZodType, value: unknown) => faults(schema, value)[0]?.message

test('a valid value is returned as the schema parses it', () => {
  expect(parseWithSchema(z.strictObject({ a: z.int().default(3) }), {})).toEqual({ success: true, data: { a: 3 } })
})

describe('in plain words', () => {
  test.each([
    [z.strictObject({ a: z.number() }), {}, 'is required'],
    [z.strictObject({ a: z.enum(['x', 'y']) }), {}, 'is required'],
    [z.strictObject({ a: z.union([z.string(), z.int()]) }), {}, 'is required'],
    [z.string(), 3, 'must be a string'],
    [z.number(), 'x', 'must be a number'],
    [z.number(), Number.NaN, 'must be a number'],
    [z.int(), 1.5, 'must be a whole number'],
    [z.boolean(), 'yes', 'must be true or false'],
    [z.array(z.string()), 'x', 'must be a list'],
    [z.strictObject({}), null, 'must be an object'],
    [z.record(z.string(), z.string()), 'x', 'must be an object'],
    [z.enum(['a', 'b']), 'c', 'must be one of a, b'],
    [z.literal(1), 2, 'must be 1'],
    [z.int().max(1000), 1001, 'must be at most 1000'],
    [z.int().min(2), 1, 'must be at least 2'],
    [z.number().gt(0.5), 0.5, 'must be more than 0.5'],
    [z.number().lt(1), 1, 'must be less than 1'],
    [z.int().multipleOf(5), 4, 'must be a multiple of 5'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().min(8), 'x', 'must have at least 8 characters'],
    [z.string().max(2), 'xyz', 'must have at most 2 characters'],
    [z.string().length(2), 'xyz', 'must have exactly 2 characters'],
    [z.array(z.int()).max(1), [1, 2], 'must have at most 1 item'],
    [z.iso.datetime(), 'x', 'must be a time as in 2026-05-03T12:00:00Z'],
    [z.iso.date(), 'x', 'must be a date as in 2026-05-03'],
    [z.base64url(), '*', 'must be base64url without padding'],
    [z.url(), 'x', 'must be a URL'],
    [z.string().regex(/^a+$/), 'b', 'must match /^a+$/'],
    [z.string().regex(/^a+$/, 'must be the letter a'), 'b', 'must be the letter a'],
    [z.string().refine((text) => text !== 'b'), 'b', 'is not valid'],
    [z.union([z.string(), z.strictObject({})]), 3, 'must be a string or an object'],
    [
      z.discriminatedUnion('t', [z.strictObject({ t: z.literal('a') }), z.strictObject({ t: z.literal('b') })]),
      {},
      'must be one of a, b',
    ],
    [z.record(z.string().max(1), z.int()), { ab: 1 }, 'as a name must have at most 1 character'],
  ])('%#: %s', (schema, value, expectedMessage) => {
    expect(word(schema as z.ZodType, value)).toBe(expectedMessage)
  })

  test('no message uses the parser’s own wording', () => {
    const every = [
      z.bigint(),
      z.date(),
      z.map(z.string(), z.int()),
      z.never(),
      z.uuid(),
      z.email(),
      z.string().startsWith('a'),
    ]
    for (const schema of every)
      expect(word(schema, 'x')).not.toMatch(/[Ii]nvalid|[Ee]xpected|[Rr]eceived|Too |Unrecognized/)
  })
})

describe('an unknown field names the nearest known one', () => {
  const inner = z.strictObject({ level: z.string().optional(), categories: z.array(z.string()).optional() })
  const outer = z.strictObject({
    one: inner.optional(),
    list: z.array(inner).optional(),
    named: z.record(z.string(), inner).optional(),
    either: z.union([z.string(), inner]).optional(),
    rule: z
      .union([
        z.strictObject({ keys: z.string() }),
        z.strictObject({ sorted: z.strictObject({ by: z.string(), window: z.int() }) }),
      ])
      .optional(),
    limited: z.partialRecord(z.enum(['read', 'write']), z.int()).optional(),
    deep: z.strictObject({ list: z.array(z.strictObject({ inner })) }).optional(),
  })

  test.each([
    [{ lits: [] }, 'lits', 'list'],
    [{ one: { levle: 'x' } }, 'one.levle', 'level'],
    [{ list: [{}, { levle: 'x' }] }, 'list.1.levle', 'level'],
    [{ named: { bravo: { category: [] } } }, 'named.bravo.category', 'categories'],
    [{ either: { levle: 'x' } }, 'either.levle', 'level'],
    [{ rule: { sorted: { by: 'a', window: 2, widnow: 1 } } }, 'rule.sorted.widnow', 'window'],
    [{ limited: { wirte: 1 } }, 'limited.wirte', 'write'],
    [{ deep: { list: [{ inner: { levle: 'x' } }] } }, 'deep.list.0.inner.levle', 'level'],
  ])('%j', (value, path, suggestion) => {
    expect(faults(outer, value)).toEqual([{ path, message: `unknown field; did you mean "${suggestion}"?` }])
  })

  test('several unknown fields are separate faults', () => {
    expect(faults(outer, { lits: 1, nmaed: 2 })).toMatchObject([{ path: 'lits' }, { path: 'nmaed' }])
  })

  test('without known fields there is no suggestion', () => {
    expect(faults(z.strictObject({}), { a: 1 })).toEqual([{ path: 'a', message: 'unknown field' }])
  })
})

describe('for untrusted input', () => {
  const schema = z.strictObject({ policy: z.strictObject({ m: z.int() }), list: z.array(z.int()) })

  test('at most 32 faults are reported, each with its path', () => {
    const errors = faults(schema, { policy: { m: 'x' }, list: Array(100).fill('x') })
    expect(errors).toHaveLength(32)
    expect(errors.slice(0, 2).map(({ path }) => path)).toEqual(['policy.m', 'list.0'])
    expect(faults(schema, Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`x${at}`, at])))).toHaveLength(32)
  })

  test('a name is quoted up to 64 characters, and a longer one gets no suggestion', () => {
    const long = 'm'.repeat(1_000_000)
    const [fault] = faults(z.strictObject({ m: z.int().optional() }), { [long]: 1 })
    expect(fault).toEqual({ path: `${'m'.repeat(64)}…`, message: 'unknown field' })
  })

  test('values are never quoted', () => {
    const secret = 'hunter2'
    const inObject = z.union([z.int(), z.strictObject({ a: z.int() })])
    const shapes = [
      z.int(),
      z.enum(['a']),
      z.literal('a'),
      z.string().max(1),
      z.string().regex(/^a$/),
      z.url(),
      inObject,
    ]
    for (const shape of shapes) expect(JSON.stringify(faults(shape as z.ZodType, secret))).not.toContain(secret)
  })
})

test('the summary line holds the first five', () => {
  const errors = ['a', 'b', '', 'd', 'e', 'f'].map((path) => ({ path, message: 'no' }))
  expect(formatFieldErrors(errors)).toBe('a: no; b: no; no; d: no; e: no')
})
