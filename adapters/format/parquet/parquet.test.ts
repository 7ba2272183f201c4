// Parquet: each type of value as readable text, a write-read round trip, and the refusal of inconsistent files.
import type { SchemaElement } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { ByteWriter, parquetWrite } from 'hyparquet-writer'
import { describe, expect, test } from 'vitest'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { DataSchema } from '../../../daemon/kernel/data/data-schema.ts'
import { inferSchema } from '../../../daemon/kernel/data/infer-schema.ts'
import { usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { buildBlock, encodeBlocks } from '../../../test/support/data/encode-blocks.ts'
import { cellOf, listRows, memoryRanges } from '../../../test/support/data/memory-source.ts'
import { PageChecks } from './check-pages.ts'
import { readParquet } from './read-parquet.ts'
import { writeParquet } from './write-parquet.ts'

const readColumn = (bytes: Uint8Array, name: string, limits = usualLimits) =>
  readParquet(memoryRanges(bytes), '|', { limits, isSelected: (each) => each === name })

async function readValues(bytes: Uint8Array, name: string): Promise<(string | undefined)[]> {
  const { rows } = await listRows(readColumn(bytes, name))
  return rows.map(([value]) => value ?? undefined)
}

function buildFile(element: Omit<SchemaElement, 'name'>, data: unknown[], more: SchemaElement[] = []): Uint8Array {
  const writer = new ByteWriter()
  const top = { name: 'v', repetition_type: 'OPTIONAL' as const, ...element }
  parquetWrite({
    writer,
    columnData: [{ name: 'v', data }],
    schema: [{ name: 'root', num_children: 1 }, top, ...more],
    rowGroupSize: 2,
  })
  return new Uint8Array(writer.getBuffer())
}

const timestampElement = (isAdjustedToUTC: boolean, unit: 'MILLIS' | 'MICROS' | 'NANOS') => ({
  type: 'INT64' as const,
  logical_type: { type: 'TIMESTAMP' as const, isAdjustedToUTC, unit },
})

describe('reads', () => {
  test.each<[string, Omit<SchemaElement, 'name'>, unknown[], (string | undefined)[]]>([
    ['texts', { type: 'BYTE_ARRAY', converted_type: 'UTF8' }, ['é', null, '', 'b,"c'], ['é', undefined, '', 'b,"c']],
    ['bytes that are text', { type: 'BYTE_ARRAY' }, [new TextEncoder().encode('x')], ['x']],
    ['whole numbers', { type: 'INT32' }, [-1, 0, 7], ['-1', '0', '7']],
    ['integers beyond the precision of a double', { type: 'INT64' }, [9_007_199_254_740_993n], ['9007199254740993']],
    ['numbers without a sign', { type: 'INT32', converted_type: 'UINT_32' }, [4_294_967_295], ['4294967295']],
    ['single precision', { type: 'FLOAT' }, [Math.fround(0.1), 1.5], ['0.1', '1.5']],
    ['double precision, and gaps', { type: 'DOUBLE' }, [0.1, Number.NaN, 12345], ['0.1', undefined, '12345']],
    ['truth', { type: 'BOOLEAN' }, [true, false, null], ['true', 'false', undefined]],
  ])('%s', async (_, element, data, expected) => {
    expect(await readValues(buildFile(element, data), 'v')).toEqual(expected)
  })

  test.each<[string, Omit<SchemaElement, 'name'>, unknown[], string[]]>([
    ['days', { type: 'INT32', converted_type: 'DATE' }, [0, -1, 19_783], ['1970-01-01', '1969-12-31', '2024-03-01']],
    ['days of other millennia', { type: 'INT32', converted_type: 'DATE' }, [3_651_695], ['+011968-01-02']],
    [
      'instants',
      { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
      [0n, -1n, 1_500n],
      ['1970-01-01T00:00:00Z', '1969-12-31T23:59:59.999Z', '1970-01-01T00:00:01.5Z'],
    ],
    ['finer instants', { type: 'INT64', converted_type: 'TIMESTAMP_MICROS' }, [1n], ['1970-01-01T00:00:00.000001Z']],
    [
      'local times',
      timestampElement(false, 'NANOS'),
      [0n, 1n],
      ['1970-01-01T00:00:00', '1970-01-01T00:00:00.000000001'],
    ],
    ['times', { type: 'INT32', converted_type: 'TIME_MILLIS' }, [34_200_000], ['09:30:00Z']],
    [
      'local times of day',
      { type: 'INT64', logical_type: { type: 'TIME', isAdjustedToUTC: false, unit: 'MICROS' } },
      [34_200_000_001n],
      ['09:30:00.000001'],
    ],
    [
      'decimals',
      { type: 'INT64', converted_type: 'DECIMAL', scale: 2, precision: 18 },
      [-5n, 123_456_789_012_345_678n],
      ['-0.05', '1234567890123456.78'],
    ],
  ])('%s', async (_, element, data, expected) => {
    expect(await readValues(buildFile(element, data), 'v')).toEqual(expected)
  })

  test('a list of texts as one text', async () => {
    const list: SchemaElement[] = [
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { name: 'element', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
    ]
    const bytes = buildFile({ converted_type: 'LIST', num_children: 1 }, [['a', 'b'], [], null, ['c', null]], list)
    expect(await readValues(bytes, 'v')).toEqual(['a|b', '', undefined, 'c'])
  })
})

test.each<[string, Omit<SchemaElement, 'name'>, unknown[], object]>([
  ['midnights alone', timestampElement(true, 'MICROS'), [0n, 86_400_000_000n], { type: 'timestamp', unit: 'us' }],
  ['milliseconds', timestampElement(true, 'MILLIS'), [1_500n], { type: 'timestamp', unit: 'ms' }],
  ['nanoseconds', timestampElement(true, 'NANOS'), [1n, -1n], { type: 'timestamp', unit: 'ns' }],
  ['local midnights', timestampElement(false, 'MILLIS'), [0n], { type: 'local_timestamp', unit: 'ms' }],
  ['local nanoseconds', timestampElement(false, 'NANOS'), [7n], { type: 'local_timestamp', unit: 'ns' }],
  [
    'the older annotation',
    { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
    [0n],
    { type: 'timestamp', unit: 'ms' },
  ],
  ['years of five digits', timestampElement(true, 'MILLIS'), [253_402_300_800_000n], { type: 'timestamp', unit: 'ms' }],
  ['days of other millennia', { type: 'INT32', converted_type: 'DATE' }, [3_651_695, -800_000], { type: 'date' }],
  ['texts of digits', { type: 'BYTE_ARRAY', converted_type: 'UTF8' }, ['7', '8'], { type: 'text' }],
  ['texts of days', { type: 'BYTE_ARRAY', converted_type: 'UTF8' }, ['2024-02-29'], { type: 'text' }],
  ['doubles that are whole', { type: 'DOUBLE' }, [1, 2], { type: 'double' }],
  [
    'doubles beyond all bounds',
    { type: 'DOUBLE' },
    [Number.POSITIVE_INFINITY, -Number.POSITIVE_INFINITY],
    { type: 'double' },
  ],
  ['small integers', { type: 'INT32', converted_type: 'INT_16' }, [1, -1], { type: 'int32' }],
  ['missing values alone', { type: 'BOOLEAN' }, [null], { type: 'boolean' }],
])('what a file states is written again: %s', async (_, element, data, stated) => {
  const first = buildFile(element, data)
  const { value: block } = await readColumn(first, 'v').next()
  if (!block) throw new Error('no block')
  const schema = inferSchema(block)
  expect(schema).toEqual([{ name: 'v', ...stated }])
  const second = encodeBlocks(writeParquet, schema, [block])
  expect(await readValues(second, 'v')).toEqual(await readValues(first, 'v'))
  const { value: again } = await readColumn(second, 'v').next()
  expect(again && inferSchema(again)).toEqual(schema)
})

test('a file without rows states its types too', async () => {
  const { value: block } = await readColumn(buildFile(timestampElement(false, 'NANOS'), []), 'v').next()
  expect(block && inferSchema(block)).toEqual([{ name: 'v', type: 'local_timestamp', unit: 'ns' }])
})

test('many columns share the memory of what is read ahead', async () => {
  const names = Array.from({ length: 200 }, (_, at) => `c${at}`)
  const data = Array.from({ length: 400 }, (_, row) => `${row}`.padEnd(1_000, 'x'))
  const writer = new ByteWriter()
  parquetWrite({
    writer,
    columnData: names.map((name) => ({ name, data, type: 'STRING', encoding: 'PLAIN' })),
    codec: 'UNCOMPRESSED',
    pageSize: 8_192,
  })
  const file = memoryRanges(new Uint8Array(writer.getBuffer()))
  expect(file.size).toBeGreaterThan(75_000_000)
  let read_bytes = 0
  const counted = {
    size: file.size,
    read(from: number, to: number) {
      read_bytes += to - from
      return file.read(from, to)
    },
  }
  for await (const { rows } of readParquet(counted, '|', { limits: usualLimits, isSelected: () => true })) {
    expect(rows).toBeGreaterThan(0)
    break
  }
  expect(read_bytes).toBeLessThan(40_000_000)
})

test('a written file is read back unchanged, group by group', async () => {
  const schema: DataSchema = [
    { name: 'id', type: 'text' },
    { name: 'cluster', type: 'int32' },
    { name: 'score', type: 'double' },
    { name: 'linked', type: 'boolean' },
  ]
  const names = schema.map(({ name }) => name)
  const bytes = encodeBlocks(writeParquet, schema, [
    buildBlock(names, [
      ['a', '1', '0.25', 'true'],
      ['ü', '2', '-3', 'false'],
    ]),
    buildBlock(names, [['c', '3', '1e-7', 'true']]),
  ])
  const { value: block } = await readColumn(bytes, 'id').next()
  expect(block?.names).toEqual(['id', 'cluster', 'score', 'linked'])
  expect(await readValues(bytes, 'id')).toEqual(['a', 'ü', 'c'])
  expect(await readValues(bytes, 'cluster')).toEqual(['1', '2', '3'])
  expect(await readValues(bytes, 'score')).toEqual(['0.25', '-3', '1e-7'])
  expect(await readValues(bytes, 'linked')).toEqual(['true', 'false', 'true'])
})

test('a column of more values than are decoded together is read in order', async () => {
  const rows = 1_400_000
  const writer = new ByteWriter()
  parquetWrite({
    writer,
    columnData: [{ name: 'v', data: Int32Array.from({ length: rows }, (_, row) => row), encoding: 'PLAIN' }],
    schema: [
      { name: 'root', num_children: 1 },
      { name: 'v', type: 'INT32', repetition_type: 'REQUIRED' },
    ],
    rowGroupSize: rows,
    pageSize: 400_000,
  })
  let next = 0
  let isInOrder = true
  for await (const block of readColumn(new Uint8Array(writer.getBuffer()), 'v')) {
    for (let row = 0; row < block.rows; row++) isInOrder &&= cellOf(block, 0, row) === String(next++)
  }
  expect([next, isInOrder]).toEqual([rows, true])
})

/** Headers of pages, one after the other, as of a column with so many values. */
function checkHeaders(values: number, ...pages: readonly number[][]): void {
  const checks = new PageChecks(values)
  for (const page of pages) {
    checks.check(parquetHeader({ view: new DataView(Uint8Array.from(page).buffer), offset: 0 }))
  }
}

describe('refuses', () => {
  const good = buildFile({ type: 'BYTE_ARRAY', converted_type: 'UTF8' }, ['one', 'two', 'three'])

  test('records within records', async () => {
    const inner: SchemaElement[] = [{ name: 'x', type: 'INT32', repetition_type: 'OPTIONAL' }]
    const bytes = buildFile({ num_children: 1 }, [{ x: 1 }], inner)
    await expect(readValues(bytes, 'v')).rejects.toThrow('column v holds records within records, which has no text')
  })

  test('no value of an optional column: those without a text are missing', async () => {
    const options = { limits: usualLimits, isSelected: () => true, isOptional: () => true }
    const inner: SchemaElement[] = [{ name: 'x', type: 'INT32', repetition_type: 'OPTIONAL' }]
    const nested = readParquet(memoryRanges(buildFile({ num_children: 1 }, [{ x: 1 }], inner)), ', ', options)
    expect(await listRows(nested)).toEqual({ names: [], rows: [[]] })
    const bytes = buildFile({ type: 'BYTE_ARRAY' }, [Uint8Array.of(0xff), new TextEncoder().encode('x')])
    expect((await listRows(readParquet(memoryRanges(bytes), ', ', options))).rows).toEqual([[null], ['x']])
  })

  test('bytes that are not UTF-8', async () => {
    await expect(readValues(buildFile({ type: 'BYTE_ARRAY' }, [Uint8Array.of(0xff)]), 'v')).rejects.toThrow(
      'column v: record 1 is not UTF-8',
    )
  })

  test('more records than are allowed', async () => {
    await expect(listRows(readColumn(good, 'v', { ...usualLimits, rows: 2 }))).rejects.toThrow('more than 2 records')
  })

  test('files that are not Parquet, or truncated', async () => {
    for (const bytes of [new Uint8Array(0), new TextEncoder().encode('id,name\n1,a\n'), good.subarray(0, 40)]) {
      await expect(listRows(readColumn(bytes, 'v'))).rejects.toThrow(DataFault)
    }
  })

  test('values that share beginnings, which together take far more than their page', async () => {
    const values = Array.from({ length: 40_000 }, (_, at) => 'x'.repeat(4_000 + (at % 2)))
    const writer = new ByteWriter()
    parquetWrite({
      writer,
      columnData: [{ name: 'v', data: values, encoding: 'DELTA_BYTE_ARRAY' }],
      schema: [
        { name: 'root', num_children: 1 },
        { name: 'v', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
      ],
      rowGroupSize: values.length,
      pageSize: 1_000_000_000,
    })
    const bytes = new Uint8Array(writer.getBuffer())
    await expect(listRows(readColumn(bytes, 'v'))).rejects.toThrow('a page claims more than the 134217728 bytes')
  })

  test('lists of one long item many times, in one record or in many', async () => {
    const list: SchemaElement[] = [
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { name: 'element', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
    ]
    const item = 'x'.repeat(1_000_000)
    const schema: SchemaElement[] = [
      { name: 'root', num_children: 1 },
      { name: 'v', repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
      ...list,
    ]
    const encode = (data: string[][]) => {
      const writer = new ByteWriter()
      parquetWrite({ writer, columnData: [{ name: 'v', data }], schema, rowGroupSize: data.length })
      return new Uint8Array(writer.getBuffer())
    }
    const wide = encode([new Array(2_000).fill(item)])
    expect(wide.length).toBeLessThan(1_000_000)
    await expect(listRows(readColumn(wide, 'v'))).rejects.toThrow('column v: record 1 has more than 1048576 bytes')
    const tall = encode(new Array(2_000).fill([item]))
    expect(tall.length).toBeLessThan(1_000_000)
    await expect(listRows(readColumn(tall, 'v'))).rejects.toThrow('a row group has more than 268435456 bytes of it')
  })

  test('decimals with more places than any number has', async () => {
    const decimal = { type: 'INT32', converted_type: 'DECIMAL', precision: 9 } as const
    for (const scale of [2_000_000_000, -2_000_000_000]) {
      const bytes = buildFile({ ...decimal, scale: 0 }, [1n])
      const text = Buffer.from(buildFile({ ...decimal, scale }, [1n]))
      expect(text.length).toBeGreaterThan(bytes.length - 16)
      await expect(listRows(readColumn(text, 'v'))).rejects.toThrow('has no text')
    }
  })

  test('a row group with something else in the place of its columns', async () => {
    const writer = new ByteWriter()
    const columns = ['t', 'v'].map((name) => ({ name, type: 'DOUBLE' as const, repetition_type: 'OPTIONAL' as const }))
    parquetWrite({
      writer,
      columnData: columns.map(({ name }) => ({ name, data: [0.125, 1.5, 2.25] })),
      schema: [{ name: 'root', num_children: 2 }, ...columns],
      rowGroupSize: 2,
    })
    const bytes = Buffer.from(writer.getBuffer())
    // A list of two structures, whose first field is the second one: it becomes the third, with the value false.
    const at = bytes.lastIndexOf(Buffer.from([0x19, 0x2c, 0x26])) + 2
    expect(at).toBeGreaterThan(2)
    bytes[at] = 0x32
    await expect(readValues(bytes, 't')).rejects.toBeInstanceOf(DataFault)
  })

  test('any wrong byte with a DataFault or other values, never with another error', async () => {
    for (let at = 0; at < good.length; at++) {
      const broken = good.slice()
      broken[at] = 0xff
      await readValues(broken, 'v').catch((error: unknown) => expect(error, `byte ${at}`).toBeInstanceOf(DataFault))
    }
  })

  test('pages that claim more values than possible, before memory is allocated', () => {
    // Thrift's compact protocol: a data page of 8 bytes, which would hold 2^31 - 1 values.
    const header = [
      0x15, 0x00, 0x15, 0x10, 0x15, 0x10, 0x2c, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0x00, 0x00, 0x00,
    ]
    expect(() => checkHeaders(1_000, header)).toThrow('a page claims more than the 1000 values that it may have')
    expect(() => checkHeaders(2_147_483_647, header)).toThrow('a page claims more than the 1048576 values')
  })

  /** Thrift's compact protocol: a data page of so many stored and unpacked bytes, and values. */
  function buildPage({ values, stored = 8, unpacked = 8 }: { values: number; stored?: number; unpacked?: number }) {
    const zigzag = (number: number) => {
      const bytes: number[] = []
      let rest = number * 2
      for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
      return [...bytes, rest]
    }
    const sizes = [0x15, ...zigzag(unpacked), 0x15, ...zigzag(stored)]
    return [0x15, 0x00, ...sizes, 0x2c, 0x15, ...zigzag(values), 0x15, 0x00, 0x00, 0x00, ...new Array(stored).fill(0)]
  }

  test('pages that together claim more values than the row group, or too many bytes', () => {
    const full = buildPage({ values: 1_000_000 })
    expect(() => checkHeaders(2_000_000, full, full)).not.toThrow()
    expect(() => checkHeaders(2_000_000, full, full, full)).toThrow('pages claim more than the 2000000 values')
    const large = buildPage({ values: 1, unpacked: 134_217_729 })
    expect(() => checkHeaders(1, large)).toThrow('a page claims more than the 134217728 bytes')
  })
})
