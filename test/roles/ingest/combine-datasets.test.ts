// Operators that join, aggregate and write, in pipelines on the embedded scheduler; and the pipeline of the documentation.

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { safeFolderName } from '../../../adapters/platform/data-file/datasets-folder.ts'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { readLanded, readParquetFile, setUpIngestSite } from './ingest-site.ts'
import { deployAndRun } from './run-tasks.ts'

const site = setUpIngestSite()
const file = (name: string, of: string) => ({ name, operator: 'ingest_file', params: { file: of }, after: [] })

test('datasets are joined in each kind', async () => {
  site().writeFile('people.csv', 'id,name\n1,Ann\n2,Bob\n,Nobody\n3,Cy\n')
  site().writeFile('visits.csv', 'person,name\n1,Rome\n1,Oslo\n3,Bern\n,Nowhere\n')
  const on = [{ left: 'id', right: 'person' }]
  const kinds = ['inner', 'left', 'semi', 'anti'].map((kind) => {
    return { name: kind, operator: 'join', params: { kind, on, prefix: 'to_' }, after: ['people', 'visits'] }
  })
  const tasks = [file('people', 'people.csv'), file('visits', 'visits.csv'), ...kinds]
  const { state, run = '' } = await deployAndRun(site(), 'joined', tasks)
  expect(state).toBe('success')
  const pairs = [
    ['1', 'Ann', 'Rome'],
    ['1', 'Ann', 'Oslo'],
    ['3', 'Cy', 'Bern'],
  ]
  expect(await readLanded(path.join(run, 'inner'))).toEqual(pairs)
  const [rome = [], oslo = [], bern = []] = pairs
  const alone = [
    ['2', 'Bob', undefined],
    [undefined, 'Nobody', undefined],
  ]
  expect(await readLanded(path.join(run, 'left'))).toEqual([rome, oslo, ...alone, bern])
  expect(await readLanded(path.join(run, 'semi'))).toEqual([
    ['1', 'Ann'],
    ['3', 'Cy'],
  ])
  expect(await readLanded(path.join(run, 'anti'))).toEqual([
    ['2', 'Bob'],
    [undefined, 'Nobody'],
  ])
  const collision = { name: 'both', operator: 'join', params: { on }, after: ['people', 'visits'] }
  const failed = await deployAndRun(site(), 'collision', [
    file('people', 'people.csv'),
    file('visits', 'visits.csv'),
    collision,
  ])
  expect(failed).toMatchObject({ state: 'failed', log: expect.stringContaining('two columns "name"') })
})

test('groups are counted and summarised, exactly for integers', async () => {
  site().writeFile('sales.csv', 'shop,items,price\na,9007199254740991,0.25\nb,1,-5\na,2,0.5\na,,\nb,2,5\n')
  const values = [
    { as: 'sales', function: 'count' },
    { as: 'items', function: 'sum', column: 'items' },
    { as: 'least', function: 'min', column: 'price' },
    { as: 'most', function: 'max', column: 'price' },
    { as: 'usual', function: 'mean', column: 'price' },
  ]
  const tasks = [
    file('sales', 'sales.csv'),
    { name: 'shops', operator: 'aggregate', params: { by: ['shop'], values }, after: ['sales'] },
    { name: 'all', operator: 'aggregate', params: { values: [{ as: 'n', function: 'count' }] }, after: ['sales'] },
  ]
  const { state, run = '' } = await deployAndRun(site(), 'sales', tasks)
  expect(state).toBe('success')
  expect(await readLanded(path.join(run, 'shops'))).toEqual([
    ['a', '3', '9007199254740993', '0.25', '0.5', '0.375'],
    ['b', '2', '3', '-5', '5', '0'],
  ])
  expect(await readLanded(path.join(run, 'all'))).toEqual([['5']])
})

test('what the memory of a task has no room for is read in parts, and the result is whole', async () => {
  const keys = Array.from({ length: 600_000 }, (_, at) => at)
  site().writeFile('many.csv', `key\n${keys.join('\n')}\n`)
  const count = [{ as: 'n', function: 'count' }]
  const tasks = [
    file('many', 'many.csv'),
    { name: 'groups', operator: 'aggregate', params: { by: ['key'], values: count }, after: ['many'] },
    { name: 'joined', operator: 'join', params: { on: [{ left: 'key', right: 'key' }] }, after: ['many', 'groups'] },
    {
      name: 'total',
      operator: 'aggregate',
      params: {
        values: [...count, { as: 'sum', function: 'sum', column: 'n' }, { as: 'last', function: 'max', column: 'key' }],
      },
      after: ['joined'],
    },
  ]
  const { state, run = '' } = await deployAndRun(site(), 'many', tasks)
  expect(state).toBe('success')
  expect(await readLanded(path.join(run, 'total'))).toEqual([['600000', '600000', '599999']])
})

test('the pipeline of the documentation makes the Parquet file that it describes', async () => {
  const page = readFileSync('docs/operators.md', 'utf8')
  const block = (kind: string) => new RegExp(`\`\`\`${kind}\n([^]*?)\`\`\``).exec(page)?.[1] ?? ''
  site().writeFile('orders.csv', block('csv'))
  const { tasks } = JSON.parse(block('json'))
  const { state, uid = '' } = await deployAndRun(site(), 'orders', tasks)
  expect(state).toBe('success')
  const folder = path.join(site().folder.data, 'ingest/output', site().tenant, safeFolderName(uid))
  expect(readdirSync(folder)).toEqual(['orders.parquet'])
  const ann = await site().as()
  const { tasks: shown } = await ann.ok(runStatus, { dag_id: 'orders', dag_run_id: 'deploy__1' })
  const [read, typed, checked, out] = shown.map(({ lineage }) => lineage)
  const sha256 = createHash('sha256').update(block('csv')).digest('hex')
  expect(read).toMatchObject({ rows_in: 4, rows_out: 4, inputs: [{ name: 'orders.csv', digest: sha256 }] })
  expect(typed).toMatchObject({ rows_in: 4, rows_out: 3, rejects: 1, inputs: [{ name: 'read', digest: read?.digest }] })
  expect(checked).toMatchObject({ rows_in: 3, rows_out: 2, rejects: 1, inputs: [{ digest: typed?.digest }] })
  expect(checked?.checks).toMatchObject([{ failed: 1 }, { rule: 'customer is known', rows: 3, failed: 0 }])
  const written = createHash('sha256')
    .update(readFileSync(path.join(folder, 'orders.parquet')))
    .digest('hex')
  expect(out).toMatchObject({
    file: 'orders.parquet',
    rows_in: 2,
    digest: written,
    inputs: [{ digest: checked?.digest }],
  })
  expect(new Set(shown.map(({ lineage }) => lineage?.catalog_version?.length))).toEqual(new Set([64]))
  expect(await readParquetFile(path.join(folder, 'orders.parquet'))).toEqual([
    ['1', 'ann', '12.5', '2024-01-02'],
    ['3', 'ann', '7.25', '2024-02-11'],
  ])
})

test('a file is written below the folder of the pipeline alone', async () => {
  site().writeFile('one.csv', 'a\n=1+1\n')
  for (const [at, name] of ['../x.csv', '/x.csv', '.x.csv', 'x.exe', 'a/b.csv'].entries()) {
    const task = { name: 'out', operator: 'write', params: { file: name }, after: ['one'] }
    const { fault } = await deployAndRun(site(), `out_${at}`, [file('one', 'one.csv'), task])
    expect(fault).toMatchObject({ path: 'tasks.1.params.file' })
  }
  const task = { name: 'out', operator: 'write', params: { file: 'x.csv' }, after: ['one'] }
  const { uid = '' } = await deployAndRun(site(), 'linked', [file('one', 'one.csv'), task])
  const folder = path.join(site().folder.data, 'ingest/output', site().tenant, safeFolderName(uid))
  expect(readFileSync(path.join(folder, 'x.csv'), 'utf8')).toBe("a\n'=1+1\n")
  const elsewhere = path.join(site().files, 'elsewhere')
  mkdirSync(elsewhere)
  rmSync(folder, { recursive: true })
  symlinkSync(elsewhere, folder)
  const again = await deployAndRun(site(), 'linked', undefined)
  expect(again).toMatchObject({ state: 'failed', log: expect.stringContaining('is a link') })
  expect(readdirSync(elsewhere)).toEqual([])
})
