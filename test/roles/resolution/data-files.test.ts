// Data files by reference: the tenant's own and no other's, by no link and no way out, under any name in a request.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cancel } from '../../../daemon/roles/resolution/fusion-run/cancel.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const folder = fs.mkdtempSync(path.join(tmpdir(), 'data-files-'))
const world = setUpResolutionSite({ data_folder: path.join(folder, 'data') })

function formatCsv(people: ReturnType<typeof buildPeople>): string {
  return ['id,given_name,surname,date_of_birth', ...people.map((each) => Object.values(each).join(','))].join('\n')
}

beforeAll(async () => {
  const own = path.join(folder, 'data/tenant-a')
  fs.mkdirSync(path.join(own, 'deep'), { recursive: true })
  fs.mkdirSync(path.join(folder, 'data/tenant-b'))
  for (const at of [
    'data/tenant-a/east.csv',
    'data/tenant-a/deep/west.csv',
    'data/tenant-b/theirs.csv',
    'outside.csv',
  ]) {
    fs.writeFileSync(path.join(folder, at), formatCsv(at.includes('west') ? buildPeople(30, 90) : buildPeople(0, 60)))
  }
  fs.symlinkSync(path.join(folder, 'outside.csv'), path.join(own, 'link.csv'))
  fs.symlinkSync(folder, path.join(own, 'linked'))
  fs.linkSync(path.join(folder, 'outside.csv'), path.join(own, 'second-name.csv'))
  fs.mkdirSync(path.join(own, 'folder.csv'))
  execFileSync('mkfifo', [path.join(own, 'pipe.csv')])
  execFileSync('mknod', [path.join(own, 'device.csv'), 'c', '1', '5'])
  await (await world().as()).ok(create, { body: buildPersonLens() })
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const buildFileRun = (file: string) => ({ lens_id: 'people', node_data: { east: { file } } })

test('a run reads files that lie in the tenant’s folder', async () => {
  const ann = await world().as()
  const node_data = { east: { file: 'east.csv' }, west: { file: 'deep/west.csv' } }
  const run = await waitForRunEnd(ann, (await ann.ok(start, { lens_id: 'people', node_data })).run_id)
  expect(run).toMatchObject({ state: 'completed', counts: { records: 120, clusters: 30 } })
  expect(run.sources).toMatchObject([
    { file: 'east.csv', records: 60 },
    { file: 'deep/west.csv', records: 60 },
  ])
})

test.each([
  '../../outside.csv',
  '../tenant-b/theirs.csv',
  '/etc/passwd',
  'deep/../east.csv',
  './east.csv',
  'deep//west.csv',
  'deep/',
  '.hidden.csv',
  'east.csv\0',
  '..%2foutside.csv',
  'linked\\outside.csv',
])('%j is not the name of a data file', async (file) => {
  const ann = await world().as()
  expect((await ann.call(start, buildFileRun(file))).problem?.errors[0]?.path).toMatch(/^node_data/)
})

const missing = 'the data file does not exist'
const noFile = 'the data file is a folder, a pipe or a device, not a regular file'

test.each([
  ...['theirs.csv', 'link.csv', 'linked/outside.csv', 'nobody.csv', 'east.csv/west.csv'].map((file) => [file, missing]),
  ...['folder.csv', 'pipe.csv', 'deep', 'device.csv'].map((file) => [file, noFile]),
  ['second-name.csv', 'the data file has a second name (a hard link); copy it into the folder instead'],
  ['x'.repeat(300), missing],
])('%s is absent, or is not a file', async (file = '', message) => {
  const ann = await world().as()
  const { status, problem } = await ann.call(start, buildFileRun(file))
  expect(status).toBe(422)
  expect(problem?.errors).toEqual([{ path: 'node_data.east.file', message }])
})

test('a tenant whose name is a way has no folder', async () => {
  for (const tenant of ['..', '.', 'tenant-a/deep']) {
    const mallory = await world().as({ subject: 'mallory', tenant })
    await mallory.ok(create, { body: buildPersonLens() })
    for (const file of ['outside.csv', 'west.csv', 'tenant-a/east.csv']) {
      expect((await mallory.call(start, buildFileRun(file))).status).toBe(422)
    }
  }
})

const persons = 'id,given_name,surname\n'
const badFiles: readonly [file: string, content: string | Uint8Array, reason: string][] = [
  [
    'notes.txt',
    'id\n1\n',
    'east: a data file must be one of .csv, .tsv, .tab, .jsonl, .ndjson, .json, .geojson, .xml, .avro, .parquet, .pq, .xls, .xlsx, .xlsm, .gpkg, .shz, .zip, .jpg, .jpeg, .png, .tif, .tiff, .gif, .webp, .bmp, .heic, .heif, .avif, .pdf',
  ],
  ['broken.csv', `${persons}1,"a`, 'east (broken.csv), line 2: the file ends within quotation marks'],
  ['short.csv', `${persons}1,a,b\n2\n`, 'east (short.csv), line 3: 1 fields, and the first line names 3'],
  [
    'latin.csv',
    Buffer.from(`${persons}1,a,b\n2,é,b\n`, 'latin1'),
    'east (latin.csv), line 3: bytes that are not UTF-8',
  ],
  ['nought.csv', `${persons}1,a\0,b\n`, 'east (nought.csv), line 2: a NUL byte'],
  ['empty.csv', '', 'east (empty.csv), line 1: the first line must name the columns, and the file has no line'],
  ['noids.csv', `${persons}1,a,b\n,c,d\n`, 'east: 1 record has no id (2): fill them'],
  ['twice.csv', `${persons}1,a,b\n1,c,d\n`, 'east: records 1 and 2 both have the id "1"'],
  ['other.csv', 'id,colour\n1,red\n', 'east has no column for given_name (given_name); it has id, colour'],
  [
    'longid.csv',
    `${persons}1,a,b\n${'é'.repeat(2_049)},c,d\n`,
    'east (longid.csv), line 3: field 1, "id", has more than 4096 bytes',
  ],
]

test.each(badFiles)('%s fails the run, and says why', async (file, content, reason) => {
  fs.writeFileSync(path.join(folder, 'data/tenant-a', file), content)
  const ann = await world().as()
  const run = await waitForRunEnd(ann, (await ann.ok(start, buildFileRun(file))).run_id)
  expect(run).toMatchObject({ state: 'failed', failure: { code: 'invalid', reason } })
  expect(JSON.stringify(run)).not.toContain(folder)
})

test('a field of a hundred megabytes fails the run, and is not held', async () => {
  const file = fs.openSync(path.join(folder, 'data/tenant-a/huge.csv'), 'w')
  fs.writeSync(file, `${persons}1,"`)
  for (let piece = 0; piece < 25; piece++) fs.writeSync(file, Buffer.alloc(4_194_304, 'x'))
  fs.closeSync(file)
  const ann = await world().as()
  const run = await waitForRunEnd(ann, (await ann.ok(start, buildFileRun('huge.csv'))).run_id)
  expect(run.failure?.reason).toBe('east (huge.csv), line 2: field 2, "given_name", has more than 1048576 bytes')
})

test('an id that is as long as an id may be names its record, and tabs are read as tabs', async () => {
  const id = 'é'.repeat(2_048)
  const lines = [persons, `${id},ann,berg`, '', '2,bo,lind', ''].join('\n').replaceAll(',', '\t')
  fs.writeFileSync(path.join(folder, 'data/tenant-a/people.tsv'), lines)
  const ann = await world().as()
  const run = await waitForRunEnd(ann, (await ann.ok(start, buildFileRun('people.tsv'))).run_id)
  expect(run).toMatchObject({ state: 'completed', counts: { records: 2 } })
})

test('a file with names of columns alone has no records, and nobody is one with anybody', async () => {
  fs.writeFileSync(path.join(folder, 'data/tenant-a/header.csv'), persons)
  const ann = await world().as()
  const run = await waitForRunEnd(ann, (await ann.ok(start, buildFileRun('header.csv'))).run_id)
  expect(run).toMatchObject({ state: 'completed', counts: { records: 0, pairs: 0, entities: 0 } })
})

test('a file that vanishes before it is read fails the run, and so does a missing folder of data; a request reports it', async () => {
  const ann = await world().as()
  const data = path.join(folder, 'data')
  await world().stop()
  fs.renameSync(data, `${data}-away`)
  await world().start()
  const { status, problem } = await ann.call(start, buildFileRun('east.csv'))
  expect(status).toBe(422)
  const message = 'the folder of data files of this site cannot be read (ENOENT)'
  expect(problem?.errors).toEqual([{ path: 'node_data.east.file', message }])
  fs.renameSync(`${data}-away`, data)
  fs.writeFileSync(path.join(data, 'tenant-a/many.csv'), formatCsv(buildPeople(0, 3_000)))
  fs.writeFileSync(path.join(data, 'tenant-a/brief.csv'), formatCsv(buildPeople(0, 5)))
  // Runs are worked on one after the other: the second is read when the first is through.
  const first = (await ann.ok(start, buildFileRun('many.csv'))).run_id
  const second = (await ann.ok(start, buildFileRun('brief.csv'))).run_id
  fs.rmSync(path.join(data, 'tenant-a/brief.csv'))
  await ann.ok(cancel, { run_id: first })
  expect((await waitForRunEnd(ann, second)).failure?.reason).toBe('east (brief.csv): the data file does not exist')
})
