// Operators that make datasets of datasets, in pipelines on the embedded scheduler.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readLanded, setUpIngestSite } from './ingest-site.ts'
import { deployAndRun } from './run-tasks.ts'

const site = setUpIngestSite()

type Task = {
  readonly operator: string
  readonly params: object
  readonly after?: readonly string[]
  readonly name?: string
}

/** Runs tasks of which each follows the one before, after files of the tenant. */
async function runTasks(dag_id: string, tasks: readonly Task[]) {
  const named = tasks.map((task, at) => ({ name: `t${at}`, after: at === 0 ? [] : [`t${at - 1}`], ...task }))
  return await deployAndRun(site(), dag_id, named)
}

const readManifest = (folder: string) => JSON.parse(readFileSync(path.join(folder, 'dataset.json'), 'utf8'))
const readFile = (file: string): Task => ({ operator: 'ingest_file', params: { file } })

test('columns are chosen, renamed and cast, and rows are filtered', async () => {
  site().writeFile('orders.csv', 'id,code,amount,day\n1,007,12.5,2024-01-02\n2,+8,,2024-02-03\n3,9,3,2024-03-04\n')
  const { state, run = '' } = await runTasks('orders', [
    readFile('orders.csv'),
    { operator: 'select', params: { columns: ['code', 'amount', 'day'] } },
    { operator: 'rename', params: { columns: [{ column: 'day', to: 'ordered' }] } },
    {
      operator: 'cast',
      params: {
        columns: [
          { column: 'code', type: 'int32' },
          { column: 'amount', type: 'text' },
        ],
      },
    },
    { operator: 'filter', params: { where: { column: 'ordered', is: 'at_least', value: '2024-02-01' } } },
  ])
  expect(state).toBe('success')
  expect(await readLanded(path.join(run, 't4'))).toEqual([
    ['8', undefined, '2024-02-03'],
    ['9', '3', '2024-03-04'],
  ])
  expect(readManifest(path.join(run, 't4'))).toMatchObject({
    columns: [
      { name: 'code', type: 'int32' },
      { name: 'amount', type: 'text' },
      { name: 'ordered', type: 'date' },
    ],
    inputs: [{ name: 't3', rows: 3, read_as: { format: 'dataset' } }],
  })
})

test('rules count, reject and end; rejected rows are kept with their number and reason', async () => {
  site().writeFile('ages.csv', 'name,age\nAnn,34\nBob,-1\nCy,\nDee,200\n')
  const isAdult = { name: 'age is known', where: { column: 'age', is: 'present' }, on_failure: 'count' }
  const isPossible = {
    name: 'age is possible',
    where: {
      any: [
        { column: 'age', is: 'missing' },
        { all: [{ column: 'age', is: 'at_least', value: 0 }, { not: { column: 'age', is: 'greater', value: 150 } }] },
      ],
    },
  }
  const { state, run = '' } = await runTasks('ages', [
    readFile('ages.csv'),
    { operator: 'validate', params: { rules: [isAdult, isPossible] } },
  ])
  expect(state).toBe('success')
  const folder = path.join(run, 't1')
  expect(await readLanded(folder)).toEqual([
    ['Ann', '34'],
    ['Cy', undefined],
  ])
  expect(readManifest(folder)).toMatchObject({
    rejects: { rows: 2 },
    checks: [
      { rule: 'age is known', rows: 4, failed: 1 },
      { rule: 'age is possible', rows: 4, failed: 2 },
    ],
  })
  const rejects = readFileSync(path.join(folder, 'rejects.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(rejects).toMatchObject([
    { input: 't0', row: 2, reason: expect.stringContaining('age is possible') },
    { row: 4, record: '{"name":"Dee","age":"200"}' },
  ])
  const ended = await runTasks('ages_end', [
    readFile('ages.csv'),
    { operator: 'validate', params: { rules: [{ ...isPossible, on_failure: 'end' }] } },
  ])
  expect(ended).toMatchObject({ state: 'failed', log: expect.stringContaining('does not hold for row 2, "age" "-1"') })
  const bounded = await runTasks('ages_bound', [
    readFile('ages.csv'),
    { operator: 'validate', params: { rules: [isPossible], max_rejects: 1 } },
  ])
  expect(bounded).toMatchObject({
    state: 'failed',
    log: expect.stringContaining('2 of the first 4 records do not fit'),
  })
})

test('what cannot be is refused before a run where the columns are known, and in the run where not', async () => {
  site().writeFile('known.csv', 'id,name\n1,Ann\n')
  const only = { operator: 'select', params: { columns: ['id', 'name'] } }
  const typed = { operator: 'cast', params: { columns: [{ column: 'id', type: 'int64' }] } }
  const faulty: readonly (readonly [Task[], path: string, reason: string])[] = [
    [
      [only, { operator: 'filter', params: { where: { column: 'nam', is: 'present' } } }],
      'tasks.2.params.where.column',
      'no column "nam": "id", "name"',
    ],
    [
      [only, typed, { operator: 'filter', params: { where: { column: 'id', is: 'less', value: 'x' } } }],
      'tasks.3.params.where.value',
      'must be int64',
    ],
    [
      [only, typed, { operator: 'filter', params: { where: { column: 'id', is: 'contains', value: '1' } } }],
      'tasks.3.params.where.is',
      'compares text',
    ],
    [
      [only, { operator: 'rename', params: { columns: [{ column: 'id', to: 'name' }] } }],
      'tasks.2.params.columns',
      'two columns "name"',
    ],
    [
      [{ operator: 'filter', params: { where: { column: 'id', all: [] } } }],
      'tasks.1.params.where.all',
      'must not be empty',
    ],
    [
      [{ operator: 'filter', params: { where: { column: 'id' } } }],
      'tasks.1.params.where',
      'must have is, one of equal',
    ],
    [
      [{ operator: 'filter', params: { where: { column: 'id', is: 'one_of', value: 1 } } }],
      'tasks.1.params.where',
      'one_of takes a list',
    ],
  ]
  for (const [at, [tasks, where, reason]] of faulty.entries()) {
    const { fault } = await runTasks(`faulty_${at}`, [readFile('known.csv'), ...tasks])
    expect(fault).toMatchObject({ path: where, reason: expect.stringContaining(reason) })
  }
  const late = await runTasks('late', [
    readFile('known.csv'),
    { operator: 'filter', params: { where: { column: 'nam', is: 'present' } } },
  ])
  expect(late).toMatchObject({
    state: 'failed',
    log: expect.stringContaining('params.where.column: the dataset has no column "nam"'),
  })
  const misfit = await runTasks('misfit', [
    readFile('known.csv'),
    { operator: 'cast', params: { columns: [{ column: 'name', type: 'double' }] } },
  ])
  expect(misfit).toMatchObject({
    state: 'failed',
    log: expect.stringContaining('"name" is "Ann", which has no form of the type double'),
  })
})

test('a condition as deep or as wide as a stranger likes is refused', async () => {
  site().writeFile('deep.csv', 'id\n1\n')
  let deep: object = { column: 'id', is: 'present' }
  for (let level = 0; level < 17; level++) deep = { not: deep }
  const leaf = { column: 'id', is: 'present' }
  const wide = { all: Array.from({ length: 3 }, () => ({ any: Array.from({ length: 90 }, () => leaf) })) }
  for (const [at, where] of [deep, wide].entries()) {
    const { fault } = await runTasks(`deep_${at}`, [readFile('deep.csv'), { operator: 'filter', params: { where } }])
    expect(fault).toMatchObject({ reason: 'must have at most 200 parts in 16 levels' })
  }
})
