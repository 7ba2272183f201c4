// How each type of Oracle is selected, how rows land, and how a cursor is compared.
import { describe, expect, test } from 'vitest'
import { checkCursorValue } from '../../../daemon/shared/row-source/row-cursor.ts'
import { findOracleOrder, findOracleRange } from './oracle-cursor.ts'
import { describeOracleError } from './oracle-errors.ts'
import { oracleRowDescriber } from './oracle-source.ts'
import {
  describeOracleValue,
  findOracleReading,
  findOracleStatedType,
  findOracleUsualType,
  type OracleColumn,
  selectOracleRows,
  stripSizes,
} from './oracle-types.ts'

function column(type: string, precision?: number, scale?: number, name = 'C'): OracleColumn {
  return { name, type_name: stripSizes(type), precision, scale }
}
const select = (type: string) => findOracleReading(column(type)).select('"C"')

test.each([
  // The library makes floating numbers of these.
  ['NUMBER', `TO_CHAR("C", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''')`],
  // And dates of JavaScript of these, whose smallest unit is the millisecond.
  ['DATE', `TO_CHAR("C", 'SYYYY-MM-DD"T"HH24:MI:SS')`],
  ['TIMESTAMP(9)', `TO_CHAR("C", 'SYYYY-MM-DD"T"HH24:MI:SS.FF9')`],
  ['TIMESTAMP(6) WITH LOCAL TIME ZONE', `TO_CHAR("C", 'SYYYY-MM-DD"T"HH24:MI:SS.FF9"Z"')`],
  ['TIMESTAMP(6) WITH TIME ZONE', `TO_CHAR("C", 'SYYYY-MM-DD"T"HH24:MI:SS.FF9TZH:TZM"["TZR"]"')`],
  ['INTERVAL DAY(2) TO SECOND(6)', 'TO_CHAR("C")'],
  ['JSON', 'JSON_SERIALIZE("C" RETURNING CLOB)'],
  ['RAW', '"C"'],
  ['NVARCHAR2', '"C"'],
])('%s is selected so that nothing of it is lost', (type, sql) => {
  expect(select(type)).toBe(sql)
})

test.each(['LONG', 'LONG RAW', 'BFILE', 'VECTOR', 'SDO_GEOMETRY'])(
  'a column of the type %s is refused by its name',
  (type) => {
    expect(() => findOracleReading(column(type))).toThrow(`the column "C" is of the type "${type}", which is not read`)
  },
)

test('a large value is measured by the server, and not sent', () => {
  expect(selectOracleRows('"S"."T"', [column('NUMBER', 9, 0, 'ID'), column('CLOB')], undefined)).toBe(
    `SELECT TO_CHAR("ID", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,'''), ` +
      'CASE WHEN DBMS_LOB.GETLENGTH("C") > 1048576 THEN NULL ELSE "C" END, ' +
      `CASE WHEN DBMS_LOB.GETLENGTH("C") > 1048576 THEN '1' ELSE '0' END, '0' FROM "S"."T"`,
  )
})

test('values keep all their digits', () => {
  expect(describeOracleValue('integer', '99999999999999999999999999999999999999')).toBe(
    '"99999999999999999999999999999999999999"',
  )
  expect(describeOracleValue('integer', '-9223372036854775808')).toBe('-9223372036854775808')
  expect(describeOracleValue('integer', '.5')).toBe('"0.5"')
  expect(describeOracleValue('decimal', '-.50')).toBe('"-0.50"')
  expect(describeOracleValue('decimal', '12')).toBe('"12"')
  expect(describeOracleValue('double', -0)).toBe('-0')
  expect(describeOracleValue('double', Number.NaN)).toBe('"NaN"')
  expect(describeOracleValue('float', Math.fround(0.1))).toBe('0.1')
  expect(describeOracleValue('float', Number.POSITIVE_INFINITY)).toBe('"Infinity"')
  expect(describeOracleValue('bytes', Buffer.from([0, 255]))).toBe('"AP8="')
  expect(describeOracleValue('boolean', false)).toBe('false')
  expect(describeOracleValue('text', ' padded ')).toBe('" padded "')
  expect(describeOracleValue('time', ' 2024-02-29T13:00:00.123456789')).toBe('"2024-02-29T13:00:00.123456789"')
  expect(describeOracleValue('time', '-4712-01-01T00:00:00')).toBe('"-4712-01-01T00:00:00"')
  expect(describeOracleValue('zoned', ' 2024-02-29T13:00:00.000000001+05:45[+05:45]')).toBe(
    '"2024-02-29T13:00:00.000000001+05:45"',
  )
  expect(describeOracleValue('zoned', ' 2024-02-29T13:00:00.5+01:00[Europe/Paris]')).toBe(
    '"2024-02-29T13:00:00.5+01:00[Europe/Paris]"',
  )
})

describe('a value of another kind than its column', () => {
  test.each<[Parameters<typeof describeOracleValue>[0], unknown]>([
    ['integer', 1],
    ['text', new Date(0)],
    ['double', '1'.length > 1],
    ['bytes', { type: 'Buffer' }],
    ['boolean', undefined],
  ])('is not one of Oracle: %s', (form, value) => {
    expect(() => describeOracleValue(form, value)).toThrow('does not answer as a server of Oracle does')
  })
})

test('a row is an object, its last two values say whether one is too large and where it stands', () => {
  const columns = [column('NUMBER', 9, 0, 'ID'), column('VARCHAR2', undefined, undefined, 'NAME')]
  const places: string[] = []
  const describeRow = oracleRowDescriber(columns, (place) => places.push(place))
  expect(describeRow(['7', 'Ann', '0', '0'])).toBe('{"ID":7,"NAME":"Ann"}')
  expect(describeRow(['8', null, '0', '2'])).toBe('{"ID":8,"NAME":null}')
  expect(places).toEqual(['between', 'end'])
  expect(() => describeRow(['7', null, '1', '0'])).toThrow('a row has a value of more than 1048576 bytes')
  for (const row of [
    ['7', 'Ann', '0'],
    ['7', 'Ann', '0', '9'],
    ['7', 'Ann', null, '0'],
    ['7', 'Ann', '0', '0', '0'],
    [],
  ])
    expect(() => describeRow(row)).toThrow('does not answer as a server of Oracle does')
})

test('types that hold every value are stated, and others are those of most values', () => {
  const typesOf = (...given: Parameters<typeof column>) => [
    findOracleStatedType(column(...given))?.type,
    findOracleUsualType(column(...given)).type,
  ]
  expect(typesOf('NUMBER', 18, 0)).toEqual(['int64', 'int64'])
  expect(typesOf('NUMBER', 17, -1)).toEqual(['int64', 'int64'])
  // 64 bits have 18 digits.
  expect(typesOf('NUMBER', 19, 0)).toEqual([undefined, 'int64'])
  expect(typesOf('NUMBER', 10, 2)).toEqual(['text', 'text'])
  expect(typesOf('NUMBER')).toEqual([undefined, 'text'])
  expect(typesOf('DATE')).toEqual([undefined, 'local_timestamp'])
  expect(typesOf('TIMESTAMP(6) WITH LOCAL TIME ZONE')).toEqual([undefined, 'timestamp'])
})

describe('a cursor', () => {
  const national = { DB_TYPE_NVARCHAR: { name: 'national' } }
  /** `greatest`: as the server says it. */
  const rangeOf = async (each: OracleColumn, value: string | undefined, greatest: string) => {
    const type = findOracleOrder(each)?.type ?? 'text'
    const from = value === undefined ? undefined : { type, value }
    const cursor = { column: 'C', from, onRow: () => undefined, onEnd: () => undefined }
    const query = async (sql: string) => (sql.includes('IS NULL') ? [] : [[greatest]])
    return await findOracleRange({ query }, national, '"S"."T"', each, cursor, new AbortController().signal)
  }

  test('is compared in the type of its column', async () => {
    expect(await rangeOf(column('DATE'), '2024-02-29 13:00:00', '2024-03-01T00:00:00')).toMatchObject({
      where: `"C" <= TO_DATE(:upto, 'YYYY-MM-DD"T"HH24:MI:SS') AND "C" >= TO_DATE(:start_at, 'YYYY-MM-DD"T"HH24:MI:SS')`,
      binds: { upto: '2024-03-01T00:00:00', start_at: '2024-02-29T13:00:00' },
    })
    expect(
      await rangeOf(column('TIMESTAMP(6) WITH TIME ZONE'), undefined, '2024-03-01T00:00:00.000000000'),
    ).toMatchObject({
      where: `SYS_EXTRACT_UTC("C") <= TO_TIMESTAMP(:upto, 'YYYY-MM-DD"T"HH24:MI:SS.FF9')`,
      binds: { upto: '2024-03-01T00:00:00.000000000' },
    })
  })

  test('that is a time has its year with a sign', () => {
    expect(findOracleOrder(column('DATE'))?.describe('MAX("C")')).toBe(
      `LTRIM(TO_CHAR(MAX("C"), 'SYYYY-MM-DD"T"HH24:MI:SS'))`,
    )
    const cursor = { column: 'C', onRow: () => undefined, onEnd: () => undefined }
    const end = { type: 'local_timestamp', value: '-0044-03-15T00:00:00' } as const
    expect(() => checkCursorValue(cursor, end)).toThrow('from which no reading can go on')
  })

  test('that is a text is a bind of its own set of characters', async () => {
    expect(await rangeOf(column('VARCHAR2'), undefined, "x' OR 1 = 1 -- Z")).toMatchObject({
      ...{ where: '"C" <= :upto', place: `CASE WHEN "C" = :upto THEN 2 ELSE 0 END` },
      binds: { upto: "x' OR 1 = 1 -- Z" },
    })
    expect(await rangeOf(column('NCHAR'), undefined, 'ž')).toHaveProperty('binds', {
      upto: { val: 'ž', type: national.DB_TYPE_NVARCHAR },
    })
  })

  test('that is a number has room for all its digits', async () => {
    const nls = `'NLS_NUMERIC_CHARACTERS=''.,'''`
    const long = '8'.repeat(38)
    expect(await rangeOf(column('NUMBER', 38, 0), '-7', long)).toMatchObject({
      where: `"C" <= TO_NUMBER(:upto, '${'9'.repeat(38)}', ${nls}) AND "C" >= TO_NUMBER(:start_at, '9', ${nls})`,
      binds: { upto: long, start_at: '-7' },
    })
    expect(await rangeOf(column('NUMBER'), undefined, long)).toHaveProperty(
      'where',
      `"C" <= TO_NUMBER(:upto, '${'9'.repeat(38)}', ${nls})`,
    )
    expect(await rangeOf(column('NUMBER'), undefined, '-120.05')).toHaveProperty(
      'where',
      `"C" <= TO_NUMBER(:upto, '999D99', ${nls})`,
    )
    for (const type of ['BINARY_DOUBLE', 'FLOAT', 'CLOB', 'RAW']) expect(findOracleOrder(column(type))).toBeUndefined()
  })
})

test.each([
  ['ORA-01017', 'the server refuses the user or the secret', true],
  ['ORA-00942', 'the user of the connection may not read the table', true],
  ['ORA-01555', 'raise undo_retention', false],
  ['ORA-00001', 'the server could not do it (error ORA-00001)', true],
  ['NJS-500', 'the server did not answer (ECONNRESET)', false],
  ['NJS-518', 'the server has no such service', true],
  ['NJS-103', 'does not answer as a server of Oracle does', true],
  ['ECONNREFUSED', 'the server did not answer (ECONNREFUSED)', false],
])('the fault %s is in words', (code, message, isFinal) => {
  const error = describeOracleError(Object.assign(new Error('secret at db-host'), { code }))
  expect(error.message).toContain(message)
  expect(error.message).not.toContain('db-host')
  expect(error.isFinal).toBe(isFinal)
})
