// Avro files of another program, and files made to exhaust a reader.
// test/support/data/avro was written by fastavro 1.13.1: two records with every type, once for each way to pack blocks.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { DataFault, type RejectedRecord } from '../../../daemon/kernel/data/data-fault.ts'
import { type DataReadOptions, usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { encodeAvro, encodeLong } from '../../../test/support/data/encode-avro.ts'
import { listRows, memoryRanges } from '../../../test/support/data/memory-source.ts'
import { readAvro } from './read-avro.ts'

const strict: DataReadOptions = { limits: usualLimits, isSelected: () => true }
const asLanded: DataReadOptions = { ...strict, isOptional: () => true }
const read = async (bytes: Uint8Array, options = strict) => await listRows(readAvro(memoryRanges(bytes), '|', options))
const folder = path.join(import.meta.dirname, '../../../test/support/data/avro')
const peopleOf = (codec: string) => Uint8Array.from(readFileSync(path.join(folder, `people-${codec}.avro`)))

const people: readonly (readonly [name: string, type: string, ann: string | null, other: string | null])[] = [
  ['id', 'int64', '9007199254740993', '-5'],
  ['name', 'text', 'Ann', 'Bücher 東京'],
  ['age', 'int32', null, '41'],
  ['score', 'double', '0.1', '1e+300'],
  ['ratio', 'double', '0.1', '3.5'],
  ['active', 'boolean', 'true', 'false'],
  ['born', '', '1980-02-29', '0001-01-01'],
  ['seen', '', '2024-02-29T13:00:00.5Z', '1969-12-31T23:59:59.999999Z'],
  ['local', '', '2024-02-29T13:00:00', null],
  ['at', 'text', '09:30:00.25', '00:00:00'],
  ['amount', 'text', '-12.50', '0.07'],
  ['key', 'text', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', '00000000-0000-0000-0000-000000000001'],
  ['hash', 'text', '00ff1020', '01020304'],
  ['color', 'text', 'GREEN', 'RED'],
  ['tags', 'text', 'a|b', ''],
  ['extra', 'text', '{"x":1,"y":"1152921504606846976"}', '{}'],
  ['address', 'text', '{"city":"Bonn","zip":null}', null],
  ['either', 'text', 'text', '7'],
  ['nothing', 'text', null, null],
  ['tree', 'text', '{"v":1,"next":{"v":2,"next":null}}', null],
]

describe('a file of another program has its values and types, packed by', () => {
  test.each(['null', 'deflate', 'snappy', 'zstandard'])('%s', async (codec) => {
    const types: string[] = []
    for await (const { columns } of readAvro(memoryRanges(peopleOf(codec)), '|', asLanded))
      types.push(...columns.map(({ stated }) => [stated?.type, stated?.unit].filter(Boolean).join(' ')))
    expect(types).toEqual(people.map(([, type]) => type))
    expect(await read(peopleOf(codec), asLanded)).toEqual({
      names: people.map(([name]) => name),
      rows: [people.map(([, , ann]) => ann), people.map(([, , , other]) => other)],
    })
  })
})

test('columns that are not selected are passed over, whatever they hold', async () => {
  const options = { ...strict, isSelected: (name: string) => name === 'color' || name === 'id' }
  expect((await read(peopleOf('null'), options)).rows).toEqual([
    ['9007199254740993', 'GREEN'],
    ['-5', 'RED'],
  ])
})

const text = (value: string) => [...encodeLong(value.length), ...Buffer.from(value)]
const one = (type: unknown) => ({ type: 'record', name: 'R', fields: [{ name: 'a', type }] })

test('a record without a text is left out with its number, and what follows is read', async () => {
  const rejects: RejectedRecord[] = []
  const lines: number[] = []
  const records = [text('x'), [2, 0xff], [...encodeLong(1_048_577), ...Buffer.alloc(1_048_577, 'y')], text('z')]
  const file = memoryRanges(encodeAvro(one('string'), [records]))
  const options = { ...strict, hasLines: true, onReject: (record: RejectedRecord) => void rejects.push(record) }
  for await (const block of readAvro(file, '|', options)) lines.push(...(block.lines ?? []))
  expect(lines).toEqual([1, 4])
  expect(rejects.map(({ place, reason }) => [place.line, reason])).toEqual([
    [2, '"a" has bytes that are not UTF-8'],
    [3, '"a" has more than 1048576 bytes'],
  ])
  const nested = encodeAvro(one({ type: 'map', values: 'int' }), [[[2, ...text('k'), 2, 0]]])
  await expect(read(nested)).rejects.toThrow('record 1: "a" has an object, which is not supported')
})

test('what is wrong with a record is so in every reading, whichever columns it selects', async () => {
  const decimal = { type: 'bytes', logicalType: 'decimal', precision: 200 }
  const fields = [
    { name: 'id', type: 'string' },
    { name: 'b', type: 'bytes' },
    { name: 't', type: 'string' },
    { name: 'd', type: decimal },
  ]
  const rowOf = (id: string, t: readonly number[], d: readonly number[]) => [...text(id), 4, 0xff, 0xd8, ...t, ...d]
  const long = [...encodeLong(65), ...Array<number>(65).fill(1)]
  const records = [rowOf('a', text('x'), [2, 7]), rowOf('b', [2, 0xff], [2, 7]), rowOf('c', text('x'), long)]
  const file = encodeAvro({ type: 'record', name: 'R', fields }, [records])
  for (const [isSelected, isOptional, row] of [
    [(name: string) => name === 'id', () => false, ['a']],
    [() => true, (name: string) => name !== 'id', ['a', 'ffd8', 'x', '7']],
    [() => true, () => false, ['a', 'ffd8', 'x', '7']],
  ] as const) {
    const reasons: string[] = []
    const options = {
      ...strict,
      isSelected,
      isOptional,
      onReject: ({ reason }: RejectedRecord) => void reasons.push(reason),
    }
    expect((await read(file, options)).rows).toEqual([row])
    expect(reasons).toEqual(['"t" has bytes that are not UTF-8', '"d" has a decimal of more than 64 bytes'])
  }
})

test('a time beyond the calendar is read as the number that stands for it', async () => {
  const logical = (type: string, logicalType: string) => one({ type, logicalType })
  const end = [0xfe, ...Array<number>(8).fill(0xff), 0x01]
  const instant = encodeAvro(logical('long', 'timestamp-micros'), [[end]])
  expect((await read(instant)).rows).toEqual([['9223372036854775807']])
  expect((await read(encodeAvro(logical('int', 'date'), [[encodeLong(2 ** 31 - 1)]]))).rows).toEqual([['2147483647']])
})

test('numbers in lists are as short as those of columns', async () => {
  const [tenth, nan] = [
    [0xcd, 0xcc, 0xcc, 0x3d],
    [0, 0, 0xc0, 0x7f],
  ]
  const file = encodeAvro(one({ type: 'array', items: 'float' }), [[[4, ...tenth, ...nan, 0]]])
  expect((await read(file)).rows).toEqual([['0.1|NaN']])
})

test('a file without records has its columns', async () => {
  expect(await read(encodeAvro(one('string'), []))).toEqual({ names: ['a'], rows: [] })
  expect(await read(encodeAvro(one('string'), [[]]))).toEqual({ names: ['a'], rows: [] })
})

test('records of many blocks of the file come in blocks of bounded size', async () => {
  const records = Array.from({ length: 1_000 }, (_, at) => text(`v${at}`))
  const sizes: number[] = []
  const file = memoryRanges(encodeAvro(one('string'), [records, records, records]))
  for await (const { rows } of readAvro(file, '|', { ...strict, block_rows: 700 })) sizes.push(rows)
  expect([Math.max(...sizes), sizes.reduce((sum, rows) => sum + rows, 0)]).toEqual([700, 3_000])
})

describe('a file that is damaged, or made to exhaust a reader, is a fault', () => {
  const people_bytes = peopleOf('deflate')
  const changed = peopleOf('snappy')
  changed[changed.length - 17] = (changed.at(-17) ?? 0) ^ 1
  const unpackable = [...encodeLong(1), ...encodeLong(3), 0xff, 0xff, 0xff]
  const list = { type: 'array', items: 'null' }
  const doubling = Array.from({ length: 40 }, (_, at) => at).reduce<unknown>(
    (inner, at) => ({
      ...{ type: 'record', name: `D${at}` },
      fields: [
        { name: 'x', type: inner },
        { name: 'y', type: at === 0 ? 'null' : `D${at - 1}` },
      ],
    }),
    'null',
  )
  const loop = { type: 'record', name: 'L', fields: [{ name: 'next', type: ['null', 'L'] }] }
  const deep = Array.from({ length: 500 }).reduce<unknown>((items) => ({ type: 'array', items }), 'int')
  test.each<[what: string, bytes: Uint8Array, pattern: string]>([
    ['nothing', new Uint8Array(0), 'not an Avro file'],
    ['text', Buffer.from('id,name\n1,a\n'), 'not an Avro file'],
    ['a file that is cut', people_bytes.slice(0, -20), 'the file ends within a block'],
    ['a header that is cut', people_bytes.slice(0, 100), 'a value ends behind its block'],
    ['a changed block', changed, 'the checksum of a block differs'],
    [
      'a block of other bytes',
      encodeAvro(one('int'), [], { codec: 'deflate', more: unpackable }),
      'cannot be unpacked',
    ],
    ['a changed end', Uint8Array.from(people_bytes.with(people_bytes.length - 1, 0)), 'does not end where it must'],
    ['another way to pack', encodeAvro(one('int'), [], { codec: 'bzip2' }), 'packed by "bzip2", which is not read'],
    ['the name of a method as one', encodeAvro(one('int'), [], { codec: 'toString' }), 'packed by "toString"'],
    ['values of another type than a record', encodeAvro('int', []), 'values are of the type primitive'],
    ['a schema that is no JSON', encodeAvro('{', [], { isRaw: true }), 'its schema is not JSON'],
    ['a type that is not defined', encodeAvro(one('Missing'), []), 'the type "Missing" is not defined'],
    ['a schema of hundreds of levels', encodeAvro(one(deep), []), 'its schema is nested too deeply'],
    ['records without a byte', encodeAvro(one('null'), [[[], [], []]]), 'a block claims 3 records in 0 bytes'],
    ['a list without end', encodeAvro(one(list), [[encodeLong(2 ** 40)]]), 'more values than its bytes can tell apart'],
    [
      'many long lists',
      encodeAvro(one(list), [Array(9).fill([...encodeLong(2 ** 20), 0])]),
      'more values than its bytes',
    ],
    [
      'records that double',
      encodeAvro({ ...one(doubling), fields: [...one(doubling).fields, { name: 'k', type: 'int' }] }, [[[2]]]),
      'more values than its bytes can tell apart',
    ],
    ['a text beyond its block', encodeAvro(one('string'), [[encodeLong(2 ** 40)]]), 'a value ends behind its block'],
    ['a number without end', encodeAvro(one('long'), [[Array(11).fill(0xff)]]), 'a number has too many bytes'],
    ['a negative length', encodeAvro(one('string'), [[[1]]]), 'a value ends behind its block'],
    ['a branch that is missing', encodeAvro(one(['null', 'int']), [[[4]]]), 'a type that its schema does not have'],
    ['a symbol that is missing', encodeAvro(one({ type: 'enum', name: 'E', symbols: ['A'] }), [[[2]]]), 'not a symbol'],
    ['values within values', encodeAvro(one(loop), [[Array(1_000).fill(2)]]), 'a value is nested too deeply'],
    ['bytes behind the records', encodeAvro(one('int'), [[[2, 2]]]), 'more bytes than its records'],
    [
      'two fields of one name',
      encodeAvro({ ...one('int'), fields: [...one('int').fields, ...one('int').fields] }, []),
      'two fields of a record have one name',
    ],
  ])('%s', async (_, bytes, pattern) => {
    await expect(read(bytes, asLanded)).rejects.toThrow(pattern)
    await expect(read(bytes, asLanded)).rejects.toBeInstanceOf(DataFault)
  })

  test('a block that unpacks to gigabytes', async () => {
    const { deflateRawSync } = await import('node:zlib')
    const packed = deflateRawSync(Buffer.alloc(100_000_000))
    const bomb = encodeAvro(one('int'), [], {
      codec: 'deflate',
      more: [...encodeLong(1), ...encodeLong(packed.length), ...packed],
    })
    await expect(read(bomb)).rejects.toThrow('has more than 67108864 bytes')
  })
})
