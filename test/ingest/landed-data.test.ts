// Landed datasets as data of commands that take records: the same results as from the file, and the digest of what was read.
import { createHash } from 'node:crypto'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { generateHouseholds } from '../support/resolution/generate-households.ts'

const { dir, remove } = createScratchFolder('landed-data')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
const readLines = (file: string) => readFileSync(at(file), 'utf8').trimEnd().split('\n')

const resolveRun = (data: string, out: string) => [
  ...[
    'resolve',
    'run',
    '--lens',
    'persons',
    '--data',
    at(data),
    '--out',
    at(out),
    '--source',
    'people',
    '--accept-poor',
  ],
]

beforeAll(async () => {
  writeFileSync(at('people.csv'), generateHouseholds(60, 0.1, 2).csv)
  await runJsonCommand(['ingest', 'land', at('people.csv'), '--out', at('people')])
})

test('give the clusters that their file gives', async () => {
  const fromFile = await runJsonCommand(resolveRun('people.csv', 'from-file'))
  const fromDataset = await runJsonCommand(resolveRun('people', 'from-dataset'))
  expect(readLines('from-dataset/clusters.csv')).toEqual(readLines('from-file/clusters.csv'))
  expect(fromDataset.clusters).toBe(fromFile.clusters)
  expect(fromDataset.sources).toMatchObject([
    { name: 'people', records: fromFile.records, read_as: { format: 'dataset' } },
  ])
})

test('are recorded with their digest, that of the description and of all files', async () => {
  await runJsonCommand(resolveRun('people', 'recorded'))
  const { data } = JSON.parse(readFileSync(at('recorded/inputs.json'), 'utf8'))
  const { files } = JSON.parse(readFileSync(at('people/dataset.json'), 'utf8'))
  const content = Buffer.concat(
    ['dataset.json', ...files.map(({ name }: { name: string }) => name)].map((name) =>
      readFileSync(at(`people/${name}`)),
    ),
  )
  const sha256 = createHash('sha256').update(content).digest('hex')
  expect(data).toEqual([{ source: 'people', path: at('people'), bytes: content.length, sha256 }])
})

test('are profiled by lens init', async () => {
  const profile = await runJsonCommand(['resolve', 'lens', 'init', '--data', at('people')])
  expect(profile.sources).toMatchObject([{ isWhole: true }])
})

test.each<[string, (folder: string) => void, RegExp]>([
  [
    'a file is shorter',
    (folder) => truncateSync(`${folder}/data-00001.parquet`, 100),
    /its file data-00001\.parquet has 100 bytes, and landed with \d+\n {2}land it again/,
  ],
  [
    'the description is damaged',
    (folder) => writeFileSync(`${folder}/dataset.json`, '{"format": 1}'),
    /dataset\.json is not the description of a dataset/,
  ],
  [
    'the description leads elsewhere',
    (folder) => redirect(folder, '../people.csv'),
    /dataset\.json is not the description of a dataset/,
  ],
  [
    'a file is missing',
    (folder) => redirect(folder, 'data-00002.parquet'),
    /its file data-00002\.parquet cannot be read: it does not exist/,
  ],
])('are refused where %s', async (name, damage, message) => {
  const folder = name.replaceAll(' ', '-')
  await runJsonCommand(['ingest', 'land', at('people.csv'), '--out', at(folder)])
  damage(at(folder))
  const ended = await runCommand(resolveRun(folder, `${folder}-out`))
  expect(ended).toMatchObject({ exit: 1, stdout: '' })
  expect(ended.stderr).toMatch(message)
})

function redirect(folder: string, name: string): void {
  const manifest = readFileSync(`${folder}/dataset.json`, 'utf8')
  writeFileSync(`${folder}/dataset.json`, manifest.replace('data-00001.parquet', name))
}
