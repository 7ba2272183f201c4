// Where the rows of datasets of a run come from: over the tasks before them, to the line of a file or the row of a source.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase } from '../roles/ingest/ingest-site.ts'
import { createScratchFolder, type Json, runCommand, runJsonCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('step-origin')
afterAll(remove)
const files = path.join(dir, 'data/tenant-a')
const run = path.join(dir, 'folder/datasets/tenant-a/run-1')
const people = 'id,name,city\n1,Ann,Oslo\n2,"Bob\nB.",Rome\n3,Cat,Oslo\n4,Dan,\n5,Eve,Rome\n'
const cities = 'town,country\nRome,IT\nBern,CH\nOslo,NO\n'
const datasets: Record<string, Json> = {}

async function perform(name: string, operator: string, params: object, after: readonly string[] = [], more = {}) {
  const task = { name, operator, params, ...(after.length > 0 && { after }) }
  const inputs = after.map((each) => datasets[each])
  const step = { format: 1, tenant_id: 'tenant-a', pipeline: 'pl_1', run: 'run-1', task, inputs, ...more }
  const words = ['ingest', 'step', '-', '--folder', path.join(dir, 'folder'), '--data-folder', path.join(dir, 'data')]
  datasets[name] = (await runJsonCommand(words, { input: JSON.stringify(step) })).dataset
}

const originOf = async (task: string, row: number) =>
  (await runJsonCommand(['ingest', 'origin', path.join(run, task), '--row', String(row)])).rows[0]
const printed = async (task: string, row: number) =>
  (await runCommand(['ingest', 'origin', path.join(run, task), '--row', String(row)])).stdout.trimEnd().split('\n')
const digest = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex')
const ofPeople = `people.csv, SHA-256 ${digest(people)}`
const ofCities = `cities.csv, SHA-256 ${digest(cities)}`

beforeAll(async () => {
  mkdirSync(files, { recursive: true })
  writeFileSync(path.join(files, 'people.csv'), people)
  writeFileSync(path.join(files, 'cities.csv'), cities)
  await perform('people', 'ingest_file', { file: 'people.csv' })
  await perform('cities', 'ingest_file', { file: 'cities.csv' })
})

test('a row of tasks that leave rows out, and columns, is a row of the task before each', async () => {
  await perform('later', 'filter', { where: { column: 'id', is: 'at_least', value: 2 } }, ['people'])
  await perform('named', 'rename', { columns: [{ column: 'name', to: 'called' }] }, ['later'])
  await perform('typed', 'cast', { columns: [{ column: 'city', type: 'text' }] }, ['named'])
  const rule = { name: 'has a city', where: { column: 'city', is: 'present' }, on_failure: 'reject' }
  await perform('valid', 'validate', { rules: [rule], max_rejects: 1 }, ['typed'])
  await perform('short', 'select', { columns: ['id'] }, ['valid'])
  expect(await printed('short', 3)).toEqual([
    'row 3 of run-1/short',
    '  row 3 of run-1/valid',
    '    row 4 of run-1/typed',
    '      row 4 of run-1/named',
    '        row 4 of run-1/later',
    '          row 5 of run-1/people',
    `            line 7 of ${ofPeople}`,
  ])
  const { sha256, inputs } = await originOf('short', 1)
  expect(sha256).toBe(datasets.short.digest)
  expect(inputs).toMatchObject([
    { kind: 'dataset', name: 'valid', sha256: datasets.valid.digest, unit: 'row', place: 1, origin: { row: 1 } },
  ])
})

describe('a row of a join', () => {
  const on = [{ left: 'city', right: 'town' }]

  test('comes from a row of each dataset', async () => {
    await perform('pairs', 'join', { kind: 'inner', on }, ['people', 'cities'])
    expect(await printed('pairs', 2)).toEqual([
      'row 2 of run-1/pairs',
      '  row 2 of run-1/people',
      `    line 3 of ${ofPeople}`,
      '  row 1 of run-1/cities',
      `    line 2 of ${ofCities}`,
    ])
    expect(await printed('pairs', 3)).toContain(`    line 4 of ${ofCities}`)
  })

  test('comes from the first one alone where it has no partner', async () => {
    await perform('all', 'join', { kind: 'left', on }, ['people', 'cities'])
    await perform('some', 'join', { kind: 'semi', on }, ['people', 'cities'])
    const alone = ['row 4 of run-1/all', '  row 4 of run-1/people', `    line 6 of ${ofPeople}`]
    expect(await printed('all', 4)).toEqual(alone)
    expect(await printed('all', 5)).toContain(`    line 2 of ${ofCities}`)
    const semi = ['row 4 of run-1/some', '  row 5 of run-1/people', `    line 7 of ${ofPeople}`]
    expect(await printed('some', 4)).toEqual(semi)
  })

  test('may meet a dataset on two ways', async () => {
    await perform('couples', 'join', { kind: 'inner', on: [{ left: 'id', right: 'id' }], prefix: 'r_' }, [
      'people',
      'people',
    ])
    expect((await printed('couples', 5)).filter((line) => line.endsWith(`line 7 of ${ofPeople}`))).toHaveLength(2)
  })
})

test('a row of groups comes from rows of the datasets and files that it is made of', async () => {
  await perform('counts', 'aggregate', { by: ['city'], values: [{ function: 'count', as: 'n' }] }, ['people'])
  expect(await printed('counts', 1)).toEqual([
    'row 1 of run-1/counts, which is made of many rows',
    '  rows of run-1/people',
    `    rows of ${ofPeople}`,
  ])
  expect(await originOf('counts', 1)).toMatchObject({ made_of: 'many', inputs: [{ kind: 'dataset' }] })
})

test('a row of a database is one that the source gave', async () => {
  createDatabase(path.join(files, 'ledger.db'), "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x'), ('y')")
  const connection = { conn_type: 'sqlite', config: { file: 'ledger.db' } }
  await perform('table', 'ingest_database', { connection_id: 'cn_1', table: 't' }, [], { connection })
  const [, line] = await printed('table', 2)
  expect(line).toMatch(/^ {2}row 2 of the source t, as it gave them, SHA-256 [0-9a-f]{64}$/)
  expect(await originOf('table', 2)).toMatchObject({ inputs: [{ kind: 'source', unit: 'row', place: 2 }] })
})

test('a dataset that is gone, or is another one, is named by its digest', async () => {
  await perform('copied', 'select', { columns: ['town'] }, ['cities'])
  const { digest: expected } = datasets.cities
  const missing = ['row 3 of run-1/copied', `  row 3 of the dataset cities, which is not there, SHA-256 ${expected}`]
  renameSync(path.join(run, 'cities'), path.join(run, 'kept'))
  expect(await printed('copied', 3)).toEqual(missing)
  mkdirSync(path.join(run, 'cities'))
  writeFileSync(path.join(run, 'cities/dataset.json'), readFileSync(path.join(run, 'people/dataset.json')))
  expect(await printed('copied', 3)).toEqual(missing)
  rmSync(path.join(run, 'cities'), { recursive: true })
  renameSync(path.join(run, 'kept'), path.join(run, 'cities'))
  expect(await printed('copied', 3)).toContain(`    line 4 of ${ofCities}`)
})

test('a place beyond the rows of the dataset before is refused', async () => {
  await perform('forged', 'select', { columns: ['town'] }, ['cities'])
  const lie = '[3,0,2]\n'
  writeFileSync(path.join(run, 'forged/origins-1.jsonl'), lie)
  const file = path.join(run, 'forged/dataset.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  Object.assign(manifest.origins[0], { bytes: lie.length, sha256: digest(lie) })
  writeFileSync(file, JSON.stringify(manifest))
  expect(await printed('forged', 2)).toContain(`    line 4 of ${ofCities}`)
  const refused = await runCommand(['ingest', 'origin', path.join(run, 'forged'), '--row', '3'])
  expect(refused).toMatchObject({ exit: 5, stdout: '' })
  expect(refused.stderr).toContain('its places name row 4 of cities, which has fewer')
})

test('a pipe in place of a description is not waited for', async () => {
  for (const name of ['before', 'piped']) await perform(name, 'select', { columns: ['town'] }, ['cities'])
  await perform('after', 'select', { columns: ['town'] }, ['before'])
  for (const name of ['before', 'piped']) {
    rmSync(path.join(run, name, 'dataset.json'))
    execFileSync('mkfifo', [path.join(run, name, 'dataset.json')])
  }
  expect(await printed('after', 1)).toEqual([
    'row 1 of run-1/after',
    `  row 1 of the dataset before, which is not there, SHA-256 ${datasets.before.digest}`,
  ])
  const refused = await runCommand(['ingest', 'origin', path.join(run, 'piped'), '--row', '1'])
  expect(refused).toMatchObject({ exit: 1, stderr: expect.stringContaining('is not a landed dataset') })
})
