// Values of Cassandra as JSON: those of a real server are in test/engines/cassandra; here the edges, and bytes that are none.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CqlReader } from './cql-frame.ts'
import { type CqlType, describeColumn, readType } from './cql-value.ts'

const typeOf = (kind: string, ...parts: CqlType[]): CqlType => ({ kind, parts, names: [] })
const describeHex = (kind: string, hex: string) => describeColumn('c', typeOf(kind), Buffer.from(hex, 'hex'))

test.each([
  ['bigint', '7fffffffffffffff', '9223372036854775807'],
  ['varint', '80', '-128'],
  ['varint', '0080', '128'],
  ['varint', 'ff'.repeat(40), '-1'],
  ['decimal', '00000002ff', '"-0.01"'],
  ['decimal', '0000000304d2', '"1.234"'],
  ['decimal', '0000000004d2', '"1234"'],
  ['decimal', 'fffffffe04d2', '"1234E2"'],
  ['decimal', '7fffffff01', '"1E-2147483647"'],
  ['float', '3dcccccd', '0.1'],
  ['float', '7f7fffff', '3.4028235e+38'],
  ['float', '00000001', '1e-45'],
  ['float', '80000000', '-0'],
  ['float', 'ff800000', '"-Infinity"'],
  ['double', '7ff8000000000000', '"NaN"'],
  ['timestamp', '7fffffffffffffff', '9223372036854775807'],
  ['timestamp', 'ffffffffffffffff', '"1969-12-31T23:59:59.999Z"'],
  ['date', '80000000', '"1970-01-01"'],
  ['date', '00000000', '-2147483648'],
  ['time', '00004e94914f0000', '"24:00:00.000000000"'],
  ['inet', '00000000000000000000000000000001', '"::1"'],
  ['inet', '7f000001', '"127.0.0.1"'],
  ['duration', '000000', '"0mo0d0ns"'],
  ['duration', '010302', '"-1mo2d1ns"'],
  ['duration', 'f07fffffff0000', '"-1073741824mo0d0ns"'],
  ['duration', '0000fffffffffffffffffe', '"0mo0d9223372036854775807ns"'],
  ['int', '', 'null'],
  ['text', '', '""'],
  ['text', 'fffe', '"//4="'],
  ['blob', '00ff0a', '"AP8K"'],
])('%s %s is %s', (kind, hex, expected) => {
  expect(describeHex(kind, hex)).toBe(expected)
})

test('each number of 32 bits has the fewest digits that are it', () => {
  fc.assert(
    fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const bytes = Buffer.alloc(4)
      bytes.writeFloatBE(value)
      expect(Math.fround(Number(describeColumn('c', typeOf('float'), bytes)))).toBe(value)
    }),
  )
})

describe('is refused:', () => {
  const not_cassandra = 'the server does not answer as a server of Cassandra does'

  test.each([
    ['int', '000001'],
    ['uuid', '00'],
    ['inet', '000000'],
    ['duration', 'ff'],
    ['decimal', '000000'],
  ])('a value of another length: %s %s', (kind, hex) => {
    expect(() => describeHex(kind, hex)).toThrow(not_cassandra)
  })

  test('more items than there are bytes, and parts that end before', () => {
    for (const hex of ['7fffffff', 'ffffffff', '00000002' + '00000001' + '05', '00000001' + '00000009' + '05'])
      expect(() => describeColumn('c', typeOf('list', typeOf('tinyint')), Buffer.from(hex, 'hex'))).toThrow(
        not_cassandra,
      )
  })

  test('a value above the limit, as bytes or as JSON, and a number of too many digits', () => {
    const limit = 'a row has a value of more than 1048576 bytes: that of "c"'
    expect(() => describeColumn('c', typeOf('text'), Buffer.alloc(1_048_577, 97))).toThrow(limit)
    const item = Buffer.concat([Buffer.from([0, 0, 0, 200]), Buffer.alloc(200)])
    const list = Buffer.concat([Buffer.from([0, 0, 0x13, 0x88]), ...Array.from({ length: 5_000 }, () => item)])
    expect(() => describeColumn('c', typeOf('list', typeOf('blob')), list)).toThrow(limit)
    expect(() => describeColumn('c', typeOf('varint'), Buffer.alloc(5_000, 1))).toThrow(
      'a number of more than 4096 bytes',
    )
  })

  test('few bytes that would be many parts, and types of many parts', () => {
    const parts = Array.from({ length: 65_535 }, () => typeOf('int'))
    const limit = 'a row has a value of more than 1048576 bytes: that of "c"'
    const list = Buffer.concat([Buffer.from('00004e20', 'hex'), Buffer.alloc(4 * 20_000)])
    for (const part of [typeOf('tuple', ...parts), { kind: 'record', parts, names: parts.map(() => 'n') }])
      expect(() => describeColumn('c', typeOf('list', part), list)).toThrow(limit)
    const tuples = Buffer.concat(
      Array.from({ length: 3 }, () => Buffer.from(`0031ffff${'0009'.repeat(65_535)}`, 'hex')),
    )
    const reader = new CqlReader(Buffer.concat([Buffer.from('00310003', 'hex'), tuples]))
    expect(() => readType(reader, { types: 0 })).toThrow(not_cassandra)
    expect(() => describeHex('vector', '000000000000')).toThrow(not_cassandra)
  }, 5_000)

  test('a type that is not known, and one of too many levels', () => {
    const read = (hex: string) => readType(new CqlReader(Buffer.from(hex, 'hex')), { types: 0 })
    const name = Buffer.from('org.example.Odd')
    const custom = read(`0000000f${name.toString('hex')}`)
    expect(() => describeColumn('c', custom, Buffer.alloc(1))).toThrow('the column "c" has a type that is not read')
    expect(() => read('0020'.repeat(100))).toThrow(not_cassandra)
    expect(() => read('0031ffff')).toThrow(not_cassandra)
    expect(() => read('0099')).toThrow(not_cassandra)
  })
})
