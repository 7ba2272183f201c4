// A record as a line: whatever a caller sends is one line, and comes back as it was.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Reason, reasons } from '../reasons.ts'
import { lineOf, type Noted, recordIn } from './line.ts'
import { requestRecord } from './model.ts'

const known = Object.keys(reasons) as Reason[]

test('any request is one line, and the line is its record', () => {
  const bytes = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) })
  const noted: fc.Arbitrary<Noted> = fc.record({
    at: fc.integer({ min: 0, max: 4_102_444_800_000 }),
    source: fc.ipV6(),
    method: bytes,
    path: bytes,
    reason: fc.constantFrom(...known),
    status: fc.integer({ min: 0, max: 599 }),
    upstream_status: fc.option(fc.integer({ min: 100, max: 599 })),
    rule: fc.option(bytes, { nil: undefined }),
  })
  fc.assert(
    fc.property(noted, (given) => {
      const line = lineOf(given)
      expect(line).not.toMatch(/[\n\r]/)
      const record = requestRecord.parse(recordIn(line))
      const { at, rule, ...rest } = given
      expect(record).toMatchObject({ ...rest, at: new Date(at).toISOString(), verdict: reasons[given.reason].verdict })
      expect(record.rule).toBe(rule)
    }),
  )
})

test('a path longer than anybody wants to read is cut', () => {
  const noted = { at: 0, source: '', method: 'GET', reason: 'no_rule', status: 404, upstream_status: null } as const
  const record = recordIn(lineOf({ ...noted, path: `/${'a'.repeat(9_000)}`, rule: undefined }))
  expect(record?.path).toHaveLength(2_048)
})

test.each([
  '',
  '[',
  '{}',
  '[1]',
  'null',
  '[0,"","","","no such reason",404,null,null]',
  '[-1,"","","","no_rule",404,null,null]',
])('%s is no record', (line) => expect(recordIn(line)).toBeUndefined())
