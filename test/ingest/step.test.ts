// One task of a DAG by `platform ingest step`, as workers of a scheduler perform it.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createDatabase, readLanded } from '../roles/ingest/ingest-site.ts'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { runCommandProcess, spawnCommand } from '../support/command/run-command-process.ts'
import { waitUntil } from '../support/site/test-site.ts'

const { dir, remove } = createScratchFolder('step')
afterAll(remove)
const at = (name: string) => path.join(dir, name)
const files = at('data/tenant-a')
mkdirSync(files, { recursive: true })
writeFileSync(path.join(files, 'people.csv'), 'id,name\n1,Ann\n2,Bob\n3,Cat\n')

let folder = ''
let runs = 0
beforeEach(() => {
  folder = at(`folder-${++runs}`)
})

const words = (...more: string[]) => [
  ...['ingest', 'step', '-', '--folder', folder, '--data-folder', at('data')],
  ...more,
]
const read = { name: 'read', operator: 'ingest_file', params: { file: 'people.csv' } }
const stepOf = (task: object, more: object = {}) =>
  JSON.stringify({
    format: 1,
    tenant_id: 'tenant-a',
    pipeline: 'pl_1',
    run: 'manual__2026-03-02T12:00:00+00:00',
    task,
    ...more,
  })
const perform = async (task: object, more?: object) => await runJsonCommand(words(), { input: stepOf(task, more) })

const datasetAt = (name: string) => path.join(folder, 'datasets/tenant-a', name)
const drafts = () => readdirSync(path.join(folder, 'datasets/.drafts'))

describe('a task makes what the embedded scheduler makes', () => {
  test('its result is the input of the tasks after it, and names what it took', async () => {
    const first = await perform(read)
    expect(first).toMatchObject({
      ...{ format: 1, task: 'read', state: 'success', dataset: { rows: 3 } },
      lineage: { rows_in: 3, rows_out: 3, rejects: 0, inputs: [{ name: 'people.csv' }] },
    })
    const condition = { column: 'id', is: 'at_least', value: 2 }
    const second = await perform(
      { name: 'some', operator: 'filter', params: { where: condition }, after: ['read'] },
      { inputs: [first.dataset] },
    )
    expect(second.lineage).toMatchObject({ rows_out: 2, inputs: [{ digest: first.dataset.digest }] })
    expect(await readLanded(datasetAt(second.dataset.dataset))).toEqual([
      ['2', 'Bob'],
      ['3', 'Cat'],
    ])
    const written = await perform(
      { name: 'out', operator: 'write', params: { file: 'some.csv' }, after: ['some'] },
      { inputs: [second.dataset] },
    )
    expect(written).toMatchObject({ state: 'success', lineage: { file: 'some.csv', rows_out: 2 } })
    expect(written).not.toHaveProperty('dataset')
    expect(readFileSync(path.join(folder, 'output/tenant-a/pl_1/some.csv'), 'utf8')).toBe('id,name\n2,Bob\n3,Cat\n')
    expect(drafts()).toEqual([])
  })

  test('a try that is repeated finds what the one before it landed', async () => {
    const first = await perform(read)
    writeFileSync(path.join(files, 'people.csv'), 'id,name\n1,Ann\n2,Bob\n3,Cat\n4,Dan\n')
    expect(await perform(read)).toMatchObject({ dataset: first.dataset })
    expect(await perform(read, { run: 'another' })).toMatchObject({ dataset: { rows: 4 } })
  })

  test('a file is read as the task states', async () => {
    writeFileSync(path.join(files, 'export.txt'), '<db><as><a k="1"/><a k="2"/></as><bs><b k="3"/><b k="4"/></bs></db>')
    const paramsOf = (read_as: object) => ({ ...read, params: { file: 'export.txt', read_as } })
    const done = await perform(paramsOf({ format: 'xml', pointer: '/db/bs/b' }))
    expect(await readLanded(datasetAt(done.dataset.dataset))).toEqual([['3'], ['4']])
    for (const [read_as, reason] of [
      [{ format: 'xml' }, 'XML needs read_as.pointer'],
      [{ format: 'xml', pointer: '/db/bs/b', sheet: '1' }, 'xml has no sheet'],
      [{ pointer: '/db' }, 'csv has no pointer'],
    ] as const) {
      const refused = await runCommand(words('--json'), { input: stepOf(paramsOf(read_as), { run: 'refused' }) })
      expect([refused.exit === 0, refused.stderr]).toEqual([false, expect.stringContaining(reason)])
    }
  })

  test('a connection comes with its secret by stdin', async () => {
    createDatabase(path.join(files, 'ledger.db'), "CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'x')")
    const task = { name: 'read', operator: 'ingest_database', params: { connection_id: 'cn_1', table: 't' } }
    const connection = { conn_type: 'sqlite', config: { file: 'ledger.db' } }
    expect(await perform(task, { connection })).toMatchObject({ state: 'success', dataset: { rows: 1 } })
  })

  test('a task that reads what is new needs the service, which keeps what has landed', async () => {
    createDatabase(path.join(files, 'new.db'), 'CREATE TABLE t (a INTEGER)')
    const params = { connection_id: 'cn_1', table: 't', cursor_column: 'a' }
    const connection = { conn_type: 'sqlite', config: { file: 'new.db' } }
    const input = stepOf({ name: 'read', operator: 'ingest_database', params }, { connection })
    expect(await runCommand(words(), { input })).toMatchObject({
      ...{ exit: 3, stderr: expect.stringContaining('need the service of the site') },
    })
  })

  test('the document may be a file, and people see what landed', async () => {
    writeFileSync(at('step.json'), stepOf(read))
    const { exit, stdout, stderr } = await runCommand([
      ...['ingest', 'step', at('step.json'), '--folder', folder, '--data-folder', at('data')],
    ])
    expect([exit, stderr]).toEqual([0, expect.stringContaining('landed')])
    expect(stdout).toMatch(/^state +success$/m)
  })
})

describe('a task that fails', () => {
  test('exits with 3 if another try fails in the same way, and its result has the reason', async () => {
    writeFileSync(path.join(files, 'bad.csv'), 'a,b\n1,2\n1\n')
    const ended = await runCommand(words('--json'), { input: stepOf({ ...read, params: { file: 'bad.csv' } }) })
    expect(ended).toMatchObject({ exit: 3, stderr: expect.stringContaining('do not fit') })
    expect(JSON.parse(ended.stdout)).toMatchObject({ state: 'failed', failure: { is_final: true } })
    expect(readdirSync(path.join(folder, 'datasets'))).not.toContain('bad')
  })

  test('exits with 1 if another try may succeed: a program has the database open', async () => {
    createDatabase(path.join(files, 'open.db'), 'CREATE TABLE t (a INTEGER)')
    writeFileSync(path.join(files, 'open.db-wal'), 'pages')
    const task = { name: 'read', operator: 'ingest_database', params: { connection_id: 'cn_1', table: 't' } }
    const connection = { conn_type: 'sqlite', config: { file: 'open.db' } }
    const ended = await runCommand(words('--json'), { input: stepOf(task, { connection }) })
    expect(ended).toMatchObject({ exit: 1 })
    expect(JSON.parse(ended.stdout)).toMatchObject({ failure: { is_final: false } })
  })

  test('ends at its time limit', async () => {
    writeBigFile()
    const ended = await runCommand(words('--json', '--time-limit', '1'), { input: stepOf(big) })
    expect(ended).toMatchObject({ exit: 3, stderr: expect.stringContaining('longer than its limit of 1 s') })
    expect(drafts()).toEqual([])
  })

  test('ends by SIGTERM, and leaves nothing behind', async () => {
    writeBigFile()
    const child = spawnCommand(words('--json'))
    const ended = new Promise((resolve) => child.once('close', resolve))
    let stderr = ''
    child.stderr?.on('data', (part: Buffer) => (stderr += part.toString()))
    child.stdin?.end(stepOf(big))
    await waitUntil(async () => existsSync(path.join(folder, 'datasets/.drafts')) && drafts().length > 0)
    child.kill('SIGTERM')
    expect([await ended, stderr]).toEqual([1, expect.stringContaining('interrupted; nothing landed')])
    expect(drafts()).toEqual([])
    const left = readdirSync(datasetAt('.'), { recursive: true, encoding: 'utf8' })
    expect(left.filter((name) => name.endsWith('dataset.json'))).toEqual([])
  })

  test('leaves a draft if its process is killed, which the next try removes', async () => {
    writeBigFile()
    const child = spawnCommand(words())
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.stdin?.end(stepOf(big))
    await waitUntil(async () => existsSync(path.join(folder, 'datasets/.drafts')) && drafts().length > 0)
    child.kill('SIGKILL')
    await ended
    expect(drafts()).toHaveLength(1)
    await perform({ ...big, params: { file: 'people.csv' } })
    expect(drafts()).toEqual([])
  })
})

const big = { name: 'big', operator: 'ingest_file', params: { file: 'big.csv' } }

/** More than any machine reads within a second. */
function writeBigFile(): void {
  const file = path.join(files, 'big.csv')
  if (existsSync(file)) return
  writeFileSync(file, 'a,b,c,d\n')
  const rows = Buffer.from('12345,some text,2024-02-29,2.5\n'.repeat(1_000_000))
  for (let million = 0; million < 20; million += 1) appendFileSync(file, rows)
}

describe('a step that is refused', () => {
  const secret = 's3cr3t-canary'
  test.each([
    ['what is no JSON', '{', 'the step is not a JSON document'],
    ['a name of a field that is not known', stepOf(read, { extra: 1 }), 'extra'],
    ['another format', stepOf(read, { format: 2 }), 'format'],
    ['an operator that this version lacks', stepOf({ ...read, operator: 'teleport' }), 'no operator teleport'],
    [
      'an operator of another role',
      stepOf({ ...read, operator: 'notify', params: { title: 'Done' } }),
      'requests the role intelligence',
    ],
    ['parameters that do not fit', stepOf({ ...read, params: {} }), 'task.params.file'],
    [
      'datasets that the operator does not take',
      stepOf({ ...read, operator: 'write', params: { file: 'a.csv' } }),
      'inputs',
    ],
    ['a task name that leads elsewhere', stepOf({ ...read, name: '../x' }), 'task.name'],
    ['a tenant without a name', stepOf(read, { tenant_id: '' }), 'tenant_id'],
    [
      'a secret that does not fit, which is not shown',
      stepOf(read, { connection: { conn_type: 'postgres', config: { host: 'h', database: 'd' }, secret } }),
      'connection',
    ],
  ])('%s', async (_name, input, message) => {
    const ended = await runCommand(words('--json'), { input })
    expect([ended.exit, ended.stderr]).toEqual([2, expect.stringContaining(message)])
    expect(ended.stderr + ended.stdout).not.toContain(secret)
    expect(existsSync(folder)).toBe(false)
  })

  test('a run and a tenant of any name stay within the folder', async () => {
    const { dataset } = await perform(read, { run: '../../../escape', inputs: [] })
    expect(dataset.dataset).toMatch(/^_[0-9a-f]{32}\/read$/)
    const ended = await runCommand(words('--json'), { input: stepOf(read, { tenant_id: '../tenant-a' }) })
    expect(ended.exit).not.toBe(0)
    expect(readdirSync(dir)).not.toContain('escape')
  })

  test('a dataset of another folder, or that is not what its run made, is not read', async () => {
    const { dataset } = await perform(read)
    const take = { name: 'out', operator: 'write', params: { file: 'a.csv' }, after: ['read'] }
    for (const forged of [
      { ...dataset, digest: '0'.repeat(64) },
      { ...dataset, dataset: 'x/../../y' },
    ]) {
      const ended = await runCommand(words(), { input: stepOf(take, { inputs: [forged] }) })
      expect(ended.exit).toBeGreaterThan(0)
      expect(existsSync(path.join(folder, 'output/tenant-a/pl_1/a.csv'))).toBe(false)
    }
  })

  test('a network that is none, and a folder that cannot be written', async () => {
    expect(await runCommand(words('--trusted-networks', 'all'), { input: stepOf(read) })).toMatchObject({ exit: 2 })
    writeFileSync(at('plain'), '')
    const onFile = ['ingest', 'step', '-', '--folder', at('plain')]
    expect(await runCommand(onFile, { input: stepOf(read) })).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('cannot be written'),
    })
    expect(await runCommandProcess(['ingest', 'step', '-'], { input: '' })).toMatchObject({ exit: 2 })
  })
})
