// Images land as they are, with a row about each: folders of them, the tiles of a GeoTIFF, and files that are not images.
// test/support/data/images was written by Pillow 13.0.0 and tifffile 2026.3.3.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sha256 } from '../../daemon/kernel/encoding/canonical-json.ts'
import { readLanded } from '../roles/ingest/ingest-site.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('images')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
const fixture = (name: string) => path.join(import.meta.dirname, '../support/data/images', name)

beforeAll(() => {
  mkdirSync(at('photos'))
  for (const name of ['a.jpg', 'a.png', 'geo.tif']) copyFileSync(fixture(name), at(`photos/${name}`))
})

/** The values of a row by the name of the column. */
async function rowsOf(out: string, columns: { name: string }[]) {
  const rows = await readLanded(at(out))
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index]])))
}

test('a folder of images lands with their bytes, their small images and a row each', async () => {
  const dataset = await runJsonCommand(['ingest', 'land', at('photos'), '--out', at('landed')])
  const types = Object.fromEntries(
    dataset.columns.map(({ name, type }: { name: string; type: string }) => [name, type]),
  )
  expect(types).toMatchObject({ width: 'int64', taken_at: 'local_timestamp', latitude: 'double', media: 'text' })
  expect(dataset.inputs).toMatchObject([
    { name: 'a.jpg', read_as: { format: 'image' }, rows: 1 },
    { name: 'a.png', rows: 1 },
    { name: 'geo.tif', rows: 1 },
  ])
  const rows = await rowsOf('landed', dataset.columns)
  expect(rows).toMatchObject([
    { format: 'jpeg', media: 'media-00001.jpg', thumbnail: 'thumbnail-00001.jpg', camera_model: 'K 1' },
    { format: 'png', media: 'media-00002.png', thumbnail: undefined },
    { format: 'tiff', media: 'media-00003.tif', crs: 'EPSG:25832' },
  ])
  for (const [index, name] of ['a.jpg', 'a.png', 'geo.tif'].entries()) {
    const bytes = readFileSync(at(`landed/${rows[index]?.media}`))
    expect(bytes.equals(readFileSync(fixture(name)))).toBe(true)
    expect(rows[index]?.sha256).toBe(dataset.inputs[index].sha256)
  }
  expect(dataset.media.map(({ name }: { name: string }) => name)).toEqual([
    ...['media-00001.jpg', 'thumbnail-00001.jpg', 'media-00002.png', 'media-00003.tif'],
  ])
  for (const { name, bytes, sha256: digest } of dataset.media) {
    const content = readFileSync(at(`landed/${name}`))
    expect([content.length, sha256(content)]).toEqual([bytes, digest])
  }
  const again = await runJsonCommand(['ingest', 'land', at('photos'), '--out', at('again')])
  expect(again).toEqual(dataset)
})

test('a row leads back to its image', async () => {
  const { rows } = await runJsonCommand(['ingest', 'origin', at('landed'), '--where', 'media=media-00003.tif'])
  expect(rows).toMatchObject([{ inputs: [{ name: 'geo.tif', unit: 'record', place: 1 }] }])
})

test('tiles of a raster land as their index, and the raster does not', async () => {
  const words = ['ingest', 'land', fixture('geo.tif'), '--out', at('tiles'), '--data-format', 'tiles']
  const dataset = await runJsonCommand(words)
  expect(dataset).toMatchObject({ rows: 17, inputs: [{ read_as: { format: 'tiles' } }] })
  expect(dataset.media).toBeUndefined()
  expect(readdirSync(at('tiles')).sort()).toEqual(['data-00001.parquet', 'dataset.json', 'origins-1.jsonl'])
})

test('a task of a pipeline lands an image whatever its name is, and refuses settings that images do not have', async () => {
  mkdirSync(at('data/tenant-a'), { recursive: true })
  copyFileSync(fixture('a.webp'), at('data/tenant-a/photo.jpg'))
  const run = async (params: object) => {
    const task = { name: 'read', operator: 'ingest_file', params }
    const step = { format: 1, tenant_id: 'tenant-a', pipeline: 'pl_1', run: 'manual__2026-03-02T12:00:00+00:00', task }
    const words = ['ingest', 'step', '-', '--folder', at('steps'), '--data-folder', at('data'), '--json']
    return await runCommand(words, { input: JSON.stringify(step) })
  }
  const refused = await run({ file: 'photo.jpg', read_as: { sheet: '1' } })
  expect([refused.exit, refused.stdout + refused.stderr]).toEqual([3, expect.stringContaining('image has no sheet')])
  const { exit, stdout } = await run({ file: 'photo.jpg' })
  expect(exit).toBe(0)
  const { dataset } = JSON.parse(stdout)
  const media = at(`steps/datasets/tenant-a/${dataset.dataset}/media-00001.webp`)
  expect(readFileSync(media).equals(readFileSync(fixture('a.webp')))).toBe(true)
})

test('a damaged image among others is a reject, and its bytes do not land', async () => {
  mkdirSync(at('mixed'))
  copyFileSync(fixture('a.jpg'), at('mixed/a.jpg'))
  writeFileSync(at('mixed/b.jpg'), readFileSync(fixture('a.jpg')).subarray(0, 1_900))
  const words = ['ingest', 'land', at('mixed'), '--out', at('some'), '--max-rejects', '1']
  expect(await runJsonCommand(words)).toMatchObject({ rows: 1, rejects: { rows: 1 }, media: [{}, {}] })
  const reject = JSON.parse(readFileSync(at('some/rejects.jsonl'), 'utf8'))
  expect(reject).toMatchObject({ input: 'b.jpg', number: 1, reason: 'damaged: it ends within its pixels' })
})

test('images beside data are left out of a folder, and images have no records to resolve', async () => {
  mkdirSync(at('beside'))
  copyFileSync(fixture('a.jpg'), at('beside/a.jpg'))
  writeFileSync(at('beside/people.csv'), 'id,name\n1,Ann\n')
  const { exit, stderr } = await runCommand(['ingest', 'land', at('beside'), '--out', at('table')])
  expect([exit, stderr]).toEqual([0, expect.stringContaining('a.jpg is not read: an image or a document beside data')])
  expect(existsSync(at('table/media-00001.jpg'))).toBe(false)
})
