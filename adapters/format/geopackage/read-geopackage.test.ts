// GeoPackages of another program and of SQLite itself, and files made to exhaust a reader, or to have it run what they hold.
// test/support/data/vector/places.gpkg.gz was written by GDAL 3.12.4, with its triggers and its virtual table of boxes.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { DataFault, type RejectedRecord } from '../../../daemon/kernel/data/data-fault.ts'
import { type DataReadOptions, usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { alterBytes } from '../../../test/support/data/altered-bytes.ts'
import { listRows, memoryRanges } from '../../../test/support/data/memory-source.ts'
import { encodeGeometry, encodeWkb, listLayer, writeGeoPackage } from '../../../test/support/data/write-geopackage.ts'
import { listLayers, readGeoPackage } from './read-geopackage.ts'

const strict: DataReadOptions = { limits: usualLimits, isSelected: () => true }
const read = async (bytes: Uint8Array, layer?: string, options = strict) =>
  await listRows(readGeoPackage(memoryRanges(bytes), layer, options))
const placesFile = () =>
  Uint8Array.from(
    gunzipSync(readFileSync(path.join(import.meta.dirname, '../../../test/support/data/vector/places.gpkg.gz'))),
  )
const rejectsOf = async (bytes: Uint8Array, layer?: string) => {
  const rejects: RejectedRecord[] = []
  const { rows } = await read(bytes, layer, { ...strict, onReject: (record) => rejects.push(record) })
  return { rows, rejects: rejects.map(({ reason, place }) => `${place.line}: ${reason}`) }
}

const crs = '"crs":{"type":"name","properties":{"name":"EPSG:25832"}}'

test('a file of another program has its values and types, and its geometries as GeoJSON', async () => {
  const types: string[] = []
  for await (const { columns } of readGeoPackage(memoryRanges(placesFile()), undefined, strict))
    types.push(...columns.map(({ name, stated }) => `${name} ${stated?.type ?? ''}`))
  expect(types).toEqual([
    ...['fid int64', 'name text', 'code text', 'pop int64', 'area double', 'born ', 'ok boolean', 'seen '],
    'geometry text',
  ])
  const rings = '[[[0,0],[4,0],[4,4],[0,4],[0,0]],[[1,1],[2,1],[2,2],[1,1]]]'
  expect((await read(placesFile())).rows).toEqual([
    [
      ...['1', 'Bücher', '007', '9007199254740993', '0.1', '1980-02-29', 'true', '2024-02-29T13:00:00.500'],
      `{"type":"Polygon",${crs},"coordinates":${rings}}`,
    ],
    ['2', null, '042', '-5', '-82837.64550848395', null, 'false', null, null],
  ])
})

describe('the layer', () => {
  const two = () =>
    writeGeoPackage(['CREATE TABLE a (k TEXT); CREATE TABLE "b ""c" (k TEXT);', listLayer('a'), listLayer('b "c')])

  test('is named by its name or number, and must be where there are several', async () => {
    expect(listLayers(memoryRanges(two())).layers.map(({ name }) => name)).toEqual(['a', 'b "c'])
    expect(await read(two(), 'b "c')).toEqual(await read(two(), '2'))
    await expect(read(two())).rejects.toThrow('several layers, and none is named: 1 "a", 2 "b \\"c"')
    await expect(read(two(), 'z')).rejects.toThrow('the GeoPackage has no layer "z"; it has 1 "a", 2 "b \\"c"')
  })

  test.each([
    ['is a view', 'CREATE VIEW v AS WITH RECURSIVE r(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM r) SELECT k FROM r'],
    ['is a virtual table', 'CREATE VIRTUAL TABLE v USING rtree(id, x, y)'],
    ['has its rows in a tree of another kind', 'CREATE TABLE v (k TEXT PRIMARY KEY) WITHOUT ROWID'],
  ])('that %s is refused', async (_, statement) => {
    await expect(read(writeGeoPackage([statement, listLayer('v')]))).rejects.toThrow(/not read/)
  })

  test('that is listed and missing is refused, and so is a database that lists none', async () => {
    await expect(read(writeGeoPackage([listLayer('gone')]))).rejects.toThrow('the table "gone" is missing')
    await expect(read(writeGeoPackage([]))).rejects.toThrow('no layer of features or attributes')
    await expect(read(writeGeoPackage(['DROP TABLE gpkg_contents']))).rejects.toThrow('and not a GeoPackage')
  })
})

describe('a reference system', () => {
  const point = encodeGeometry(encodeWkb(1, [1, 2]))
  const withSrs = (srs_id: number) =>
    writeGeoPackage([
      'CREATE TABLE t (fid INTEGER PRIMARY KEY, shape BLOB)',
      (db) => db.prepare('INSERT INTO t (shape) VALUES (?)').run(point),
      listLayer('t', { column: 'shape', srs_id }),
    ])

  test.each([
    [4326, undefined],
    [0, undefined],
    [-1, undefined],
    [25832, 'EPSG:25832'],
    [9999, 'srs_id:9999'],
  ])('%s', async (srs_id, srs) => {
    const bytes = withSrs(srs_id)
    expect(listLayers(memoryRanges(bytes)).layers).toEqual([{ name: 't', geometryColumn: 'shape', srs }])
    const { names, rows } = await read(bytes)
    const [, text] = rows[0] ?? []
    expect([names, JSON.parse(text ?? '')]).toEqual([
      ['fid', 'geometry'],
      {
        type: 'Point',
        ...(srs && { crs: { type: 'name', properties: { name: srs } } }),
        coordinates: [1, 2],
      },
    ])
  })
})

describe('the rows of SQLite are read as SQLite reads them:', () => {
  const many = (db: DatabaseSync) => {
    db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, n, s TEXT)')
    const insert = db.prepare('INSERT INTO t VALUES (?, ?, ?)')
    const numbers = [0, 1, -1, 127, -128, 32_767, -8_388_608, 2 ** 31, -(2 ** 47), 2n ** 63n - 1n, 0.5, 1e300]
    for (let at = 0; at < 3_000; at++)
      insert.run(BigInt(at * 7 - 900), numbers[at % 12] ?? null, at % 5 === 0 ? null : 'ü'.repeat((at * 13) % 900))
  }
  test.each<[what: string, before: string, make: (db: DatabaseSync) => void]>([
    ['pages of 512 bytes, in trees of several levels', 'PRAGMA page_size = 512;', many],
    ['pages of 64 KiB', 'PRAGMA page_size = 65536;', many],
    ['texts of UTF-16', "PRAGMA encoding = 'UTF-16be';", many],
    [
      'columns that were added later, with and without a value',
      '',
      (db) =>
        db.exec(`CREATE TABLE t (a); INSERT INTO t VALUES ('old');
          ALTER TABLE t ADD COLUMN b TEXT DEFAULT 'it''s'; ALTER TABLE t ADD COLUMN c REAL DEFAULT -2.5;
          ALTER TABLE t ADD COLUMN d; INSERT INTO t VALUES (1, 2, 3, 4)`),
    ],
    [
      'values of added columns by the types of these',
      '',
      (db) =>
        db.exec(`CREATE TABLE t (a); INSERT INTO t VALUES ('old');
          ALTER TABLE t ADD COLUMN b TEXT DEFAULT 1.0; ALTER TABLE t ADD COLUMN c VARCHAR(9) DEFAULT +1.50;
          ALTER TABLE t ADD COLUMN d INTEGER DEFAULT '7'; ALTER TABLE t ADD COLUMN e DEFAULT 'seven';
          ALTER TABLE t ADD COLUMN f BLOB DEFAULT '7'; ALTER TABLE t ADD COLUMN g REAL DEFAULT '.5';
          ALTER TABLE t ADD COLUMN h INT DEFAULT TRUE; ALTER TABLE t ADD COLUMN i TEXT DEFAULT FALSE;
          ALTER TABLE t ADD COLUMN j TEXT DEFAULT -007; ALTER TABLE t ADD COLUMN k TEXT DEFAULT -0.50`),
    ],
    [
      'numbers that are none, and keys with a collation',
      '',
      (db) => {
        db.exec('CREATE TABLE t (x INTEGER, y REAL CHECK (y / 2 < 9), PRIMARY KEY (x COLLATE NOCASE))')
        db.prepare('INSERT INTO t VALUES (3, ?), (4, 2.5)').run(Number.NaN)
      },
    ],
    [
      'names, comments and constraints of any form',
      '',
      (db) =>
        db.exec(`CREATE TABLE t ("a,b" TEXT /* , z */ DEFAULT (1 + 2), [c d] DECIMAL(10, 2) CHECK ([c d] > 0), -- , y
          \`e\`\`f\` "long type" COLLATE NOCASE, ünïc, x INTEGER, CONSTRAINT k PRIMARY KEY (x), UNIQUE ("a,b"));
          INSERT INTO t VALUES ('v', 2.5, 'w', x'00ff', 77), (NULL, 3, '', NULL, -5)`),
    ],
    [
      'a key that is not the id of its row',
      '',
      (db) => db.exec('CREATE TABLE t (x INTEGER PRIMARY KEY DESC, y INT); INSERT INTO t VALUES (9, 8)'),
    ],
    [
      'deleted rows',
      '',
      (db) => {
        many(db)
        db.exec('DELETE FROM t WHERE id % 3 = 0')
      },
    ],
  ])('%s', async (_, before, make) => {
    let expected: (string | null)[][] = []
    const bytes = writeGeoPackage(
      [
        make,
        listLayer('t'),
        (db) => {
          const statement = db.prepare('SELECT * FROM t NOT INDEXED ORDER BY rowid')
          statement.setReadBigInts(true)
          expected = statement.all().map((row) =>
            Object.values(row).map((value) => {
              if (value === null) return null
              return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
            }),
          )
        },
      ],
      before,
    )
    expect(expected.length).toBeGreaterThan(0)
    expect((await read(bytes)).rows).toEqual(expected)
  })
})

test('generated columns are left out, stored ones too', async () => {
  const bytes = writeGeoPackage([
    'CREATE TABLE t (a, v AS (a * 2), s GENERATED ALWAYS AS (a * 3) STORED, b TEXT); INSERT INTO t VALUES (1, 4)',
    listLayer('t'),
  ])
  expect(await read(bytes)).toEqual({ names: ['a', 'b'], rows: [['1', '4']] })
})

test('a value that is not of its column makes a bad record, where the column is read', async () => {
  const bytes = writeGeoPackage([
    `CREATE TABLE t (k INTEGER, ok BOOLEAN, s TEXT(5), shape);
     INSERT INTO t VALUES (1, 1, 'a', NULL), ('x', 1, 'b', NULL), (2, 2, 'c', NULL), (3, 0, x'41', NULL), (4, 0, CAST(x'ff' AS TEXT), NULL), (5, 0, 'd', 'POINT')`,
    listLayer('t', { column: 'shape', srs_id: 0 }),
  ])
  expect(await rejectsOf(bytes)).toEqual({
    rows: [['1', 'true', 'a', null]],
    rejects: [
      '2: "k" has a value that is not a number, as its column states',
      '3: "ok" has a value that is not a boolean, as its column states',
      '4: "s" has a value that is not a text, as its column states',
      '5: "s" has bytes that are not Unicode',
      '6: "geometry" has a value that is not a geometry',
    ],
  })
  const { rows } = await read(bytes, undefined, { ...strict, isSelected: () => false })
  expect(rows).toHaveLength(6)
  // A second reading of all columns has the rows of the first, which read those of the lens alone.
  const isOptional = (name: string) => name !== 'ok'
  const { rows: kept } = await read(bytes, undefined, { ...strict, isOptional, onReject: () => undefined })
  expect(kept).toEqual([
    ['1', 'true', 'a', null],
    [null, 'true', 'b', null],
    ['3', 'false', null, null],
    ['4', 'false', null, null],
    ['5', 'false', 'd', null],
  ])
})

test('a triggered or defaulted expression is never run', async () => {
  const bytes = writeGeoPackage([
    `CREATE TABLE t (a TEXT DEFAULT (hex(randomblob(1000000))));
     CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; END; INSERT INTO t VALUES ('x')`,
    'DROP TRIGGER r; INSERT INTO t VALUES (1)',
    listLayer('t'),
  ])
  expect((await read(bytes)).rows).toEqual([['1']])
})

describe('hostile bytes end the reading:', () => {
  const page_bytes = 512
  const deep = writeGeoPackage(
    [
      'CREATE TABLE t (s TEXT)',
      (db) => {
        const insert = db.prepare('INSERT INTO t VALUES (?)')
        for (let at = 0; at < 500; at++) insert.run(`${at} ${'x'.repeat(60)}`)
        insert.run('y'.repeat(5_000))
      },
      listLayer('t'),
    ],
    `PRAGMA page_size = ${page_bytes};`,
  )
  /** Pages by the first byte of their tree. */
  const pagesOf = (kind: number) =>
    Array.from({ length: deep.length / page_bytes }, (_, page) => page * page_bytes).filter(
      (at) => at > 0 && deep[at] === kind,
    )
  const alter = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(deep)
    change(bytes)
    return bytes
  }

  test.each<[what: string, bytes: () => Uint8Array, fault: RegExp]>([
    [
      'a page that is its own child',
      () =>
        alter((bytes) => {
          for (const at of pagesOf(5)) bytes.writeUInt32BE(at / page_bytes + 1, at + 8)
        }),
      /nested too deeply|do not ascend/,
    ],
    [
      'children that are one page',
      () =>
        alter((bytes) => {
          for (const at of pagesOf(5)) {
            const cell = bytes.readUInt16BE(at + 12)
            for (let each = 0; each < bytes.readUInt16BE(at + 3); each++) bytes.writeUInt16BE(cell, at + 12 + each * 2)
          }
        }),
      /do not ascend/,
    ],
    [
      'a page beyond the end',
      () =>
        alter((bytes) => {
          for (const at of pagesOf(5)) bytes.writeUInt32BE(0xffff_ffff, at + 8)
        }),
      /beyond the end of the file/,
    ],
    [
      'pages without rows',
      () =>
        alter((bytes) => {
          for (const at of pagesOf(13)) bytes.writeUInt16BE(0, at + 3)
        }),
      /no rows, or too many/,
    ],
    [
      'pages that claim 65,535 rows',
      () =>
        alter((bytes) => {
          for (const at of pagesOf(13)) bytes.writeUInt16BE(65_535, at + 3)
        }),
      /no rows, or too many/,
    ],
    [
      'rows that claim 2 GiB',
      () =>
        alter((bytes) => {
          for (const at of pagesOf(13)) bytes.set([0x87, 0xff, 0xff, 0xff, 0x7f], bytes.readUInt16BE(at + 8) + at)
        }),
      /damaged/,
    ],
    ['a file that is cut', () => deep.subarray(0, deep.length / 2), /beyond the end of the file/],
    ['a header alone', () => deep.subarray(0, 100), /beyond the end of the file/],
    ['pages of 3 bytes', () => alter((bytes) => bytes.writeUInt16BE(3, 16)), /its pages have 3 bytes/],
    ['text', () => Buffer.from('a,b\n1,2\n'), /damaged, or not a GeoPackage/],
    ['nothing', () => new Uint8Array(0), /damaged, or not a GeoPackage/],
    [
      'a statement without an end',
      () => alter((bytes) => bytes.write('CREATE TABLE t (s "', bytes.indexOf('CREATE TABLE t (s'))),
      /not stated as SQLite states them/,
    ],
  ])('%s', async (_, bytes, fault) => {
    await expect(read(bytes())).rejects.toThrow(DataFault)
    await expect(read(bytes())).rejects.toThrow(fault)
  })

  test.each([
    ['of another program', placesFile],
    ['of several levels', () => deep],
  ])(
    'whatever bytes of a file %s are altered, no fault but of data comes, and no rows without end',
    async (_, file) => {
      let readable = 0
      for (const { altered, describe: seed } of alterBytes(file(), 400)) {
        try {
          const { rows } = await read(altered, undefined, { ...strict, onReject: () => undefined })
          expect(rows.length, seed).toBeLessThanOrEqual(501)
          readable++
        } catch (error) {
          expect(error, seed).toBeInstanceOf(DataFault)
        }
      }
      expect(readable).toBeGreaterThan(0)
    },
  )
})
