// Shapefiles of another program, and files made to exhaust a reader.
// test/support/data/vector/places.shp.zip was written by GDAL 3.12.4.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { DataFault, type RejectedRecord } from '../../../daemon/kernel/data/data-fault.ts'
import { type DataReadOptions, usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import type { TextEncodingName } from '../../../daemon/kernel/data/utf8-source.ts'
import { alterBytes } from '../../../test/support/data/altered-bytes.ts'
import { listRows, memoryRanges } from '../../../test/support/data/memory-source.ts'
import {
  encodeDbase,
  encodeParts,
  encodeShape,
  encodeShapes,
  writeShapefile,
} from '../../../test/support/data/write-shapefile.ts'
import { writeZip, type ZipPart } from '../../../test/support/data/write-zip.ts'
import { readShapefile } from './read-shapefile.ts'
import { openShapefile } from './shapefile-archive.ts'

const strict: DataReadOptions = { limits: usualLimits, isSelected: () => true }
const read = async (bytes: Uint8Array, encoding?: TextEncodingName, options = strict) =>
  await listRows(readShapefile(memoryRanges(bytes), encoding, options))
const placesFile = () =>
  Uint8Array.from(readFileSync(path.join(import.meta.dirname, '../../../test/support/data/vector/places.shp.zip')))

const none = encodeShape(0)
const text8 = [{ name: 'T', type: 'C', length: 8 }]
const tableOf = (...texts: string[]) =>
  encodeDbase(
    text8,
    texts.map((text) => ` ${text.padEnd(8)}`),
  )

test('a file of another program has its values and types, and its geometries as GeoJSON', async () => {
  const types: string[] = []
  for await (const { columns } of readShapefile(memoryRanges(placesFile()), undefined, strict))
    types.push(...columns.map(({ name, stated }) => `${name} ${stated?.type ?? ''}`))
  expect(types).toEqual(['name text', 'code text', 'pop ', 'area ', 'born date', 'geometry text'])
  const crs = '"crs":{"type":"name","properties":{"name":"ETRS_1989_UTM_Zone_32N"}}'
  const rings = '[[[0,0],[4,0],[4,4],[0,4],[0,0]],[[1,1],[2,2],[2,1],[1,1]]]'
  expect((await read(placesFile())).rows).toEqual([
    ['Bücher', '007', '900719925474099', '0.1', '1980-02-29', `{"type":"Polygon",${crs},"coordinates":${rings}}`],
    [null, '042', '-5', '-82837.64550848395', null, null],
  ])
})

const fields = [
  { name: 'N', type: 'N', length: 24 },
  { name: 'L', type: 'L', length: 1 },
  { name: 'D', type: 'D', length: 8 },
]
const row = (number: string, logical = '?', date = '', mark = ' ') =>
  `${mark}${number.padStart(24)}${logical}${date.padEnd(8)}`
const ofRows = (rows: readonly string[]) =>
  writeShapefile(encodeShapes(rows.map(() => none)), encodeDbase(fields, rows))

test('numbers are written as numbers are, with all of their digits; what is missing is missing', async () => {
  const cases = [
    ...[
      ['007', '7'],
      ['-0', '0'],
      ['+1.50', '1.5'],
      ['.5', '0.5'],
      ['5.', '5'],
      ['-00.00', '0'],
      ['1e-05', '1e-05'],
    ],
    ...[
      ['0.100000000000000', '0.1'],
      [(-82837.64550848395).toFixed(15), '-82837.64550848395'],
      ['12345678901234567890', '12345678901234567890'],
    ],
    ...[
      ['123456789012345678.25', '123456789012345678.25'],
      ['****', null],
      ['', null],
    ],
  ] as const
  const { rows } = await read(ofRows(cases.map(([stored]) => row(stored))))
  expect(rows.map(([number]) => number)).toEqual(cases.map(([, number]) => number))
})

test('logical values and dates are of their types, and others make bad records', async () => {
  const rejects: RejectedRecord[] = []
  const onReject = (record: RejectedRecord) => rejects.push(record)
  const rows = [
    row('1', 'T', '20240229'),
    row('2', 'n', '00000000'),
    row('x'),
    row('4', 'z'),
    row('5', ' ', '20230229'),
  ]
  const { rows: kept } = await read(ofRows(rows), undefined, { ...strict, onReject })
  expect(kept).toEqual([
    ['1', 'true', '2024-02-29', null],
    ['2', 'false', null, null],
  ])
  expect(rejects.map(({ reason, place }) => `${place.line}: ${reason}`)).toEqual([
    '3: "N" has a value that is not a number',
    '4: "L" has a value that is not a logical one',
    '5: "D" has a value that is not a date',
  ])
})

test('a zero byte ends a value, and fields may end without a mark', async () => {
  const bytes = encodeDbase(
    text8,
    [' ab\0zz\xff\0 ', ' \0\0\0\0\0\0\0\0'].map((text) => Buffer.from(text, 'latin1')),
  )
  expect((await read(writeShapefile(encodeShapes([none, none]), bytes), 'utf-8')).rows).toEqual([
    ['ab', null],
    [null, null],
  ])
  const end = bytes.indexOf(0x0d, 32)
  const unmarked = Buffer.concat([bytes.subarray(0, end), bytes.subarray(end + 1)])
  unmarked.writeUInt16LE(end, 8)
  expect(await read(writeShapefile(encodeShapes([none, none]), unmarked), 'utf-8')).toEqual(
    await read(writeShapefile(encodeShapes([none, none]), bytes), 'utf-8'),
  )
})

test('a name that is not UTF-8 says the encoding where the rows do not', async () => {
  const bytes = encodeDbase(text8, [' ab      '])
  bytes.set([0x47, 0xd6], 32)
  const archive = writeShapefile(encodeShapes([none]), bytes)
  const { encoding, isEncodingFound } = await openShapefile(memoryRanges(archive), undefined, () => undefined)
  expect([(await read(archive)).names, encoding, isEncodingFound]).toEqual([['GÖ', 'geometry'], 'windows-1252', true])
})

test('deleted rows are left out with their shapes, and keep their numbers', async () => {
  const rows = [row('1'), row('2', '?', '', '*'), row('3')]
  const bytes = writeShapefile(
    encodeShapes([encodeShape(1, 1, 1), encodeShape(1, 2, 2), none]),
    encodeDbase(fields, rows),
  )
  const lines: number[] = []
  for await (const block of readShapefile(memoryRanges(bytes), undefined, { ...strict, hasLines: true }))
    lines.push(...(block.lines ?? []))
  expect([lines, (await read(bytes)).rows.map(([number]) => number)]).toEqual([
    [1, 3],
    ['1', '3'],
  ])
})

describe('the encoding', () => {
  const stored = Buffer.from(' Köln€   '.replace('€', '\x80'), 'latin1')
  const archive = (language: number, others: Readonly<Record<string, string>> = {}) =>
    writeShapefile(encodeShapes([none]), encodeDbase(text8, [stored], language), others)

  test.each<[what: string, bytes: Uint8Array, stated: TextEncodingName | undefined, text: string]>([
    ['is that of .cpg', archive(0, { cpg: ' ISO-8859-1\n' }), undefined, 'Köln\x80'],
    ['is that of the code page', archive(0x57), undefined, 'Köln€'],
    ['is Windows-1252 where texts are not UTF-8', archive(0), undefined, 'Köln€'],
    ['is the stated one', archive(0x57, { cpg: 'UTF-8' }), 'latin-1', 'Köln\x80'],
  ])('%s', async (_, bytes, stated, text) => {
    expect((await read(bytes, stated)).rows).toEqual([[text, null]])
  })

  test('that is not read is named, and bytes of another one make a bad record', async () => {
    await expect(read(archive(0, { cpg: 'Big5' }))).rejects.toThrow(
      'its .cpg names the encoding "Big5", which is not read',
    )
    await expect(read(archive(0x64))).rejects.toThrow('its .dbf names the code page 100')
    await expect(read(archive(0), 'utf-16le')).rejects.toThrow('no texts in UTF-16')
    await expect(read(archive(0), 'utf-8')).rejects.toThrow('record 1: "T" has bytes that are not UTF-8')
  })
})

test.each([
  ['GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137,298.25]]]', undefined],
  ['GEOGCS["WGS 84",DATUM["WGS_1984"],AUTHORITY["EPSG","4326"]]', undefined],
  ['GEOGCS["NAD27",DATUM["x",AUTHORITY["EPSG","4326"]]]', 'NAD27'],
  ['PROJCS["x",GEOGCS["y",AUTHORITY["EPSG","4258"]],AUTHORITY["EPSG","25832"]]', 'EPSG:25832'],
  ['PROJCRS["z",ID["EPSG",32633]]', 'EPSG:32633'],
  ['not a definition', undefined],
])('the reference system of %s is %s', async (definition, srs) => {
  const bytes = writeShapefile(encodeShapes([none]), tableOf('a'), { prj: definition })
  expect((await openShapefile(memoryRanges(bytes), undefined, () => undefined)).srs).toBe(srs)
})

describe('an archive is refused:', () => {
  const [shp, dbf] = [encodeShapes([none, none]), tableOf('a', 'b')]
  const part = (name: string, content: Uint8Array | string): ZipPart => ({ name, content })
  const altered = (bytes: Buffer, change: (bytes: Buffer) => void) => {
    const copy = Buffer.from(bytes)
    change(copy)
    return copy
  }
  test.each<[what: string, bytes: Uint8Array, fault: string]>([
    ['a bare .shp', shp, 'a .shp without its attributes'],
    ['nothing', new Uint8Array(0), 'damaged, or not a ZIP archive with a shapefile'],
    ['no .shp', writeZip([part('a.txt', 'x'), part('__MACOSX/._a.shp', 'x')]), 'it has no .shp'],
    ['no .dbf', writeZip([part('a.shp', shp), part('b.dbf', dbf)]), 'it has no .dbf of that name'],
    ['two shapefiles', writeZip([part('a.shp', shp), part('b/c.SHP', shp)]), 'several shapefiles ("a.shp", "b/c.SHP")'],
    ['more rows than shapes', writeShapefile(encodeShapes([none]), dbf), 'the .shp ends too early'],
    ['more shapes than rows', writeShapefile(shp, tableOf('a')), 'the .dbf has 1 rows, and the .shp more shapes'],
    [
      'four billion rows',
      writeShapefile(
        shp,
        altered(dbf, (bytes) => bytes.writeUInt32LE(0xffff_ffff, 4)),
      ),
      'too early',
    ],
    [
      'records without bytes',
      writeShapefile(
        shp,
        altered(dbf, (bytes) => bytes.writeUInt16LE(0, 10)),
      ),
      'longer than its records',
    ],
    [
      'fields without an end',
      writeShapefile(
        shp,
        altered(dbf, (bytes) => bytes.writeUInt16LE(40, 8)),
      ),
      'have no end',
    ],
    [
      'a memo',
      writeShapefile(
        shp,
        altered(dbf, (bytes) => bytes.write('M', 43)),
      ),
      'the field "T" is of type "M"',
    ],
    [
      'a shape of 8 GiB',
      writeShapefile(
        altered(shp, (bytes) => bytes.writeUInt32BE(0xffff_ffff, 104)),
        dbf,
      ),
      'the .shp ends too early',
    ],
    [
      'shapes in another order',
      writeShapefile(
        altered(shp, (bytes) => bytes.writeUInt32BE(2, 100)),
        dbf,
      ),
      'shape 1 of the .shp has the number 2',
    ],
    [
      'another beginning',
      writeShapefile(
        altered(shp, (bytes) => bytes.fill(0, 0, 4)),
        dbf,
      ),
      'does not begin as one',
    ],
    ['a long .prj', writeShapefile(shp, dbf, { prj: 'x'.repeat(70_000) }), 'more than 65536 bytes'],
  ])('%s', async (_, bytes, fault) => {
    await expect(read(bytes)).rejects.toThrow(DataFault)
    await expect(read(bytes)).rejects.toThrow(fault)
  })

  test('whatever bytes of it or of its parts are altered, no fault but of data comes', async () => {
    const shapes = encodeShapes([
      encodeParts(5, [
        [
          [0, 0],
          [0, 9],
          [9, 9],
          [0, 0],
        ],
        [
          [1, 5],
          [2, 5],
          [2, 6],
          [1, 5],
        ],
      ]),
      encodeShape(8, 0, 0, 0, 0, { int: 1 }, 1, 2),
    ])
    const attributes = encodeDbase(fields, [row('1', 'T', '20240229'), row('-2.5', 'F', '19991231')])
    let readable = 0
    const [forms, count] = [
      [
        (bytes: Uint8Array) => writeShapefile(bytes, attributes),
        (bytes: Uint8Array) => writeShapefile(shapes, bytes),
        (bytes: Uint8Array) => bytes,
      ],
      250,
    ]
    for (const [at, source] of [shapes, attributes, writeShapefile(shapes, attributes)].entries())
      for (const { altered: bytes, describe: seed } of alterBytes(source, count)) {
        try {
          const { rows } = await read(forms[at]?.(bytes) ?? bytes, undefined, { ...strict, onReject: () => undefined })
          expect(rows.length, seed).toBeLessThanOrEqual(2)
          readable++
        } catch (error) {
          expect(error, `${at}, ${seed}`).toBeInstanceOf(DataFault)
        }
      }
    expect(readable).toBeGreaterThan(0)
  })
})
