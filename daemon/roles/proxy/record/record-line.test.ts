// Any request becomes one line, which parses back to its record.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ProxyReason, reasons } from '../reasons.ts'
import { requestRecord } from './model.ts'
import { formatRecordLine, parseRecordLine, type RequestAuditEntry, readLineHead } from './record-line.ts'

const allReasons = Object.keys(reasons) as ProxyReason[]

test('any request is one line, and the line is its record', () => {
  const bytes = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) })
  const auditEntry: fc.Arbitrary<RequestAuditEntry> = fc.record({
    at: fc.integer({ min: 0, max: 4_102_444_800_000 }),
    source: fc.ipV6(),
    method: bytes,
    path: bytes,
    reason: fc.constantFrom(...allReasons),
    status: fc.integer({ min: 0, max: 599 }),
    upstream_status: fc.option(fc.integer({ min: 100, max: 599 })),
    rule: fc.option(bytes, { nil: undefined }),
  })
  fc.assert(
    fc.property(auditEntry, (entry) => {
      const line = formatRecordLine(entry)
      expect(line).not.toMatch(/[\n\r]/)
      const record = requestRecord.parse(parseRecordLine(line))
      const { at, rule, ...rest } = entry
      expect(record).toMatchObject({ ...rest, at: new Date(at).toISOString(), verdict: reasons[entry.reason].verdict })
      expect(record.rule).toBe(rule)
      expect(readLineHead(line)).toEqual({
        ...{ at, rule, verdict: record.verdict, source: entry.source, status: entry.status },
      })
    }),
  )
})

test('a very long path is cut', () => {
  const entry = { at: 0, source: '', method: 'GET', reason: 'no_rule', status: 404, upstream_status: null } as const
  const record = parseRecordLine(formatRecordLine({ ...entry, path: `/${'a'.repeat(9_000)}`, rule: undefined }))
  expect(record?.path).toHaveLength(2_048)
})

test.each([
  '',
  '[',
  '{}',
  '[1]',
  'null',
  '[0,"no_such_reason","",404,null,"","",null]',
  '[0,"constructor","",404,null,"","",null]',
  '[-1,"no_rule","",404,null,"","",null]',
  '[9999999999999999,"no_rule","",404,null,"","",null]',
  '[0,"no_rule","",404,null,"",""]',
])('%s is not a record', (line) => {
  expect(parseRecordLine(line)).toBeUndefined()
  expect(readLineHead(line)).toBeUndefined()
})

test('a truncated line and a line with an extra byte are not records', () => {
  const entry = { at: 9, source: '::1', method: 'GET', reason: 'no_rule', status: 404, upstream_status: null } as const
  const line = formatRecordLine({ ...entry, path: '/"\\\u0000é', rule: 'GET /' })
  expect(readLineHead(line)).toEqual({ at: 9, verdict: 'denied', source: '::1', status: 404, rule: 'GET /' })
  for (let end = 0; end < line.length; end += 1) expect(readLineHead(line.slice(0, end))).toBeUndefined()
  for (const broken of [`${line}x`, ` ${line}`, line.replace('\\u0000', '\\x00'), line.replace('"GET"', 'GET')]) {
    expect(readLineHead(broken)).toBeUndefined()
  }
})
