// Values from bytes are those that `parseTyped` gives for the text, wherever they are given at all.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DataColumn, parseTyped } from './data-schema.ts'
import { readDay, readDecimal, readInteger, readTime, readTruth } from './value-bytes.ts'

const digits = fc.string({ unit: fc.constantFrom(...'0123456789.-+eETZ: '), maxLength: 30 })
const awkward = fc.constantFrom(
  ...[
    '',
    '-',
    '.',
    '-.',
    '1.',
    '.5',
    '-.5',
    '0.0',
    '-0.5',
    '00.5',
    '0',
    '-0',
    '007',
    '1e5',
    '0.000001',
    '123456789012345',
  ],
  ...[
    '1234567890123456',
    '0.1234567890123456',
    '1.50',
    '-12.25',
    'true',
    'TRUE',
    'False',
    'falsE',
    'truE1',
    'tru\u0005',
    'T\u0012UE',
  ],
  ...[
    '2024-02-29',
    '2023-02-29',
    '2100-02-29',
    '2000-02-29',
    '0000-01-01',
    '0000-02-29',
    '1969-12-31',
    '2024-13-01',
    '2024-00-10',
  ],
  ...[
    '2024-02-29T13:00',
    '2024-02-29 13:00:00.5',
    '2024-02-29T24:00:00',
    '2024-02-29T13:00:00.1234567',
    '2024-02-29T13:00:00.',
  ],
  ...[
    '2024-02-29T13:00:00Z',
    '2024-02-29T13:00Z',
    '2024-02-29T13:00:00+05:30',
    '2024-02-29T13:00:00-14:59',
    '2024-02-29T13:00:00+15:00',
  ],
  ...[
    '2024-02-29T13:00:00.123456Z',
    '9999-12-31T23:59:59.999Z',
    '0001-01-01T00:00:00Z',
    '2024-02-29T13:00:00ZZ',
    '2024-02-29T1a:00:00Z',
  ],
)
const numbers = fc.double({ noNaN: true }).map(String)
const decimals = fc.tuple(fc.integer(), fc.nat(9_999_999)).map(([whole, part]) => `${whole}.${part}`)
const dates = fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
const days = dates.map((text) => text.slice(0, text.indexOf('T')))
const localTimes = dates.map((text) => text.slice(0, -1))
const texts = fc.oneof(digits, awkward, numbers, decimals, dates, days, localTimes)

type Reader = (bytes: Uint8Array, start: number, end: number) => number

const instants = { ms: 1_000, us: 1_000_000, ns: 1_000_000_000 } as const
const readers: readonly (readonly [Omit<DataColumn, 'name'>, Reader])[] = [
  [{ type: 'int64' }, readInteger],
  [{ type: 'double' }, readDecimal],
  [{ type: 'date' }, readDay],
  [{ type: 'boolean' }, readTruth],
  ...(['ms', 'us', 'ns'] as const).flatMap((unit): (readonly [Omit<DataColumn, 'name'>, Reader])[] => [
    [{ type: 'timestamp', unit }, (bytes, start, end) => readTime(bytes, start, end, true, instants[unit])],
    [{ type: 'local_timestamp', unit }, (bytes, start, end) => readTime(bytes, start, end, false, instants[unit])],
  ]),
]

describe.each(readers)('%o', (type, read) => {
  test('agrees with the text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        // Other digits around the value are not part of it.
        const bytes = Buffer.from(`1${text}1`)
        const value = read(bytes, 1, bytes.length - 1)
        if (!Number.isNaN(value)) expect(value).toBe(Number(parseTyped(type, text)))
      }),
      { numRuns: 2_000 },
    )
  })
})

test.each<[Reader, string, number]>([
  [readInteger, '-123456789012345', -123_456_789_012_345],
  [readInteger, '0', 0],
  [readDecimal, '-12.25', -12.25],
  [readDecimal, '0.1', 0.1],
  [readDecimal, '42', 42],
  [readDecimal, '0.0', 0],
  [readDay, '1969-12-31', -1],
  [readDay, '2024-02-29', 19_782],
  [readTruth, 'False', 0],
  [(bytes, start, end) => readTime(bytes, start, end, true, 1e6), '1970-01-01T01:00:00.5+01:00', 500_000],
  [(bytes, start, end) => readTime(bytes, start, end, false, 1e6), '1970-01-01 00:00:01', 1_000_000],
])('the usual forms are read: %o of %s', (read, text, value) => {
  const bytes = Buffer.from(text)
  expect(read(bytes, 0, bytes.length)).toBe(value)
})
