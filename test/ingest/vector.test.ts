// Vector files: a GeoPackage and a zipped shapefile land and are resolved, and those that cannot be read say what to do.
// test/support/data/vector was written by GDAL 3.12.4.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { readLanded } from '../roles/ingest/ingest-site.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { encodeGeometry, encodeWkb, listLayer, writeGeoPackage } from '../support/data/write-geopackage.ts'
import { encodeDbase, encodeShape, encodeShapes, writeShapefile } from '../support/data/write-shapefile.ts'

const { dir, remove } = createScratchFolder('vector')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
const fixture = (name: string) => path.join(import.meta.dirname, '../support/data/vector', name)
writeFileSync(at('places.gpkg'), gunzipSync(readFileSync(fixture('places.gpkg.gz'))))
copyFileSync(fixture('places.shp.zip'), at('places.shp.zip'))
const two = writeGeoPackage([
  "CREATE TABLE first (id TEXT); INSERT INTO first VALUES ('a'); CREATE TABLE second (id TEXT); INSERT INTO second VALUES ('b')",
  listLayer('first'),
  listLayer('second'),
])
writeFileSync(at('two.gpkg'), two)

const landWords = (name: string, out: string, ...more: string[]) => [
  ...['ingest', 'land', at(name), '--out', at(out)],
  ...more,
]
const typesOf = ({ columns }: { columns: { name: string; type: string }[] }) =>
  Object.fromEntries(columns.map(({ name, type }) => [name, type]))

test('a GeoPackage lands with the types that it states, and the reference system of its coordinates', async () => {
  const dataset = await runJsonCommand(landWords('places.gpkg', 'gpkg'))
  expect(typesOf(dataset)).toEqual({
    ...{ fid: 'int64', name: 'text', code: 'text', pop: 'int64', area: 'double', born: 'date', ok: 'boolean' },
    ...{ seen: 'local_timestamp', geometry: 'text' },
  })
  const read_as = { format: 'gpkg', sheet: 'places', srs: 'EPSG:25832' }
  expect(dataset.inputs).toMatchObject([{ name: 'places.gpkg', read_as, rows: 2, rejects: 0 }])
  const [first] = await readLanded(at('gpkg'))
  expect(JSON.parse(first?.at(-1) ?? '')).toMatchObject({
    ...{ type: 'Polygon', crs: { properties: { name: 'EPSG:25832' } } },
  })
  const { stderr } = await runCommand(landWords('places.gpkg', 'again'))
  expect(stderr).toBe(`${at('places.gpkg')} is read as coordinates of EPSG:25832, as they are\n`)
})

test('a GeoPackage that may have changes in another file beside it is reported', async () => {
  const made = writeGeoPackage(['CREATE TABLE t (id TEXT)', listLayer('t')], 'PRAGMA journal_mode = WAL;')
  writeFileSync(at('wal.gpkg'), made)
  const { exit, stderr } = await runCommand(landWords('wal.gpkg', 'wal'))
  expect([exit, stderr]).toEqual([
    0,
    expect.stringContaining('without the changes that a file -wal beside it may have'),
  ])
})

test('a zipped shapefile lands with its types', async () => {
  const dataset = await runJsonCommand(landWords('places.shp.zip', 'shapefile'))
  expect(typesOf(dataset)).toEqual({
    ...{ name: 'text', code: 'text', pop: 'int64', area: 'double', born: 'date', geometry: 'text' },
  })
  const read_as = { format: 'shapefile', encoding: 'utf-8', srs: 'ETRS_1989_UTM_Zone_32N' }
  expect(dataset.inputs).toMatchObject([{ name: 'places.shp.zip', read_as, rows: 2, rejects: 0 }])
})

test('of a landing, a value of another type makes a bad record, and a geometry may have more than 1 MiB', async () => {
  const points = 60_000
  const line = encodeWkb(2, [{ count: points }, ...Array.from({ length: points * 2 }, (_, n) => n + 0.125)])
  const layer = writeGeoPackage([
    "CREATE TABLE t (k INTEGER, g BLOB); INSERT INTO t VALUES ('x', NULL)",
    (db) => db.prepare('INSERT INTO t VALUES (7, ?)').run(encodeGeometry(line)),
    listLayer('t', { column: 'g', srs_id: 0 }),
  ])
  writeFileSync(at('long.gpkg'), layer)
  const dataset = await runJsonCommand(landWords('long.gpkg', 'long', '--max-rejects', '1'))
  expect(dataset.inputs).toMatchObject([{ rows: 1, rejects: 1 }])
})

test('a layer is named by --sheet, and by the task of a pipeline', async () => {
  const ended = await runCommand(landWords('two.gpkg', 'none'))
  expect(ended).toMatchObject({ exit: 1, stdout: '' })
  expect(ended.stderr).toContain('two.gpkg has several layers: "first", "second"')
  expect(ended.stderr).toContain('name one: `--sheet NAME`')
  await runJsonCommand(landWords('two.gpkg', 'second', '--sheet', '2'))
  expect(await readLanded(at('second'))).toEqual([['b']])
  mkdirSync(at('data/tenant-a'), { recursive: true })
  writeFileSync(at('data/tenant-a/two.gpkg'), two)
  const params = { file: 'two.gpkg', read_as: { sheet: 'first' } }
  const task = { name: 'read', operator: 'ingest_file', params }
  const step = { format: 1, tenant_id: 'tenant-a', pipeline: 'pl_1', run: 'manual__2026-03-02T12:00:00+00:00', task }
  const words = ['ingest', 'step', '-', '--folder', at('steps'), '--data-folder', at('data')]
  const { dataset } = await runJsonCommand(words, { input: JSON.stringify(step) })
  expect(await readLanded(at(`steps/datasets/tenant-a/${dataset.dataset}`))).toEqual([['a']])
})

test('records of vector files are resolved; of a folder, an archive is not read', async () => {
  mkdirSync(at('folder'))
  const people = 'CREATE TABLE people (id TEXT, given_name TEXT, surname TEXT, date_of_birth TEXT);'
  const rows = Array.from(
    { length: 30 },
    (_, n) => `INSERT INTO people VALUES ('p${n}', 'Ann${n}', 'Berg${n}', '1980-02-${1 + (n % 28)}');`,
  )
  writeFileSync(
    at('folder/people.gpkg'),
    writeGeoPackage([people, ...rows, ...rows.map((row) => row.replace("'p", "'q")), listLayer('people')]),
  )
  writeFileSync(at('folder/others.zip'), 'PK')
  const words = ['resolve', 'run', '--lens', 'persons', '--data', at('folder'), '--out', at('resolved')]
  const { exit, stderr } = await runCommand(words)
  expect([exit, stderr]).toEqual([
    0,
    expect.stringContaining('others.zip is not read: an archive; name the file itself'),
  ])
  const { sources } = JSON.parse(readFileSync(at('resolved/run.json'), 'utf8'))
  expect(sources).toMatchObject([{ read_as: { format: 'gpkg', sheet: 'people', rows: 60 } }])
})

describe('is refused, and nothing is written:', () => {
  const shapes = encodeShapes([encodeShape(0)])
  const table = (rows: number) => encodeDbase([{ name: 'T', type: 'C', length: 250 }], [' '.repeat(251 * rows)])
  /** 50 MB of blanks in 50 KB. */
  const bomb = () => {
    const attributes = table(200_000)
    attributes.writeUInt32LE(200_000, 4)
    return writeShapefile(shapes, attributes)
  }
  test.each<[what: string, name: string, content: () => string | Uint8Array, fault: RegExp]>([
    [
      'one file of a shapefile',
      'bare.shp',
      () => shapes,
      /bare\.shp cannot be read as text: it is one file of a shapefile\n.*into a \.zip/,
    ],
    ['text as a GeoPackage', 'text.gpkg', () => 'a,b\n1,2\n', /text\.gpkg: damaged, or not a GeoPackage/],
    ['a GeoPackage that is cut', 'cut.gpkg', () => two.subarray(0, 3_000), /cut\.gpkg: damaged/],
    [
      'a view without end',
      'view.gpkg',
      () =>
        writeGeoPackage([
          'CREATE VIEW v AS WITH RECURSIVE r(k) AS (SELECT 1 UNION ALL SELECT k FROM r) SELECT k FROM r',
          listLayer('v'),
        ]),
      /view\.gpkg: "v" is a view or a virtual table, which is not read/,
    ],
    [
      'another archive',
      'other.zip',
      () => Buffer.from('PK\x03\x04 and more', 'latin1'),
      /other\.zip: damaged, or not a ZIP archive with a shapefile/,
    ],
    [
      'an archive that unpacks to a thousand times its size',
      'bomb.zip',
      bomb,
      /bomb\.zip: damaged: the \.shp ends too early/,
    ],
  ])('%s', async (_, name, content, fault) => {
    writeFileSync(at(name), content())
    const ended = await runCommand(landWords(name, 'out'))
    expect(ended).toMatchObject({ exit: 1, stdout: '' })
    expect(ended.stderr).toMatch(fault)
    expect(existsSync(at('out'))).toBe(false)
  })
})
