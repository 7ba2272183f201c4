// Runs that read what is new of a source: each row lands once, whatever becomes of the runs.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeParquet } from '../../../adapters/format/parquet/write-parquet.ts'
import { wakeJob } from '../../../daemon/kernel/job/rules.ts'
import { create } from '../../../daemon/roles/ingest/connection/create.ts'
import { update as updateConnection } from '../../../daemon/roles/ingest/connection/update.ts'
import { errors } from '../../../daemon/roles/ingest/dag-run/errors.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { pipelines } from '../../../daemon/roles/ingest/datapipeline/model.ts'
import { remove } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { update } from '../../../daemon/roles/ingest/datapipeline/update.ts'
import { readCursors } from '../../../daemon/roles/ingest/read-cursor/model.ts'
import { dagRuns, runFolderName } from '../../../daemon/roles/ingest/runner/model.ts'
import { buildBlock, encodeBlocks } from '../../support/data/encode-blocks.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { createDatabase, readLanded, setUpIngestSite, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

const site = setUpIngestSite()
const ann = () => site().as({ roles: ['admin'] })
type Params = Readonly<Record<string, unknown>>

class GrowingSource {
  readonly name: string
  readonly #files: string | undefined
  uid = ''
  #connection = ''

  /** `files`: a folder of Parquet files instead of a database. */
  constructor(name: string, files?: string) {
    this.name = name
    this.#files = files
  }

  sql(statements: string): void {
    createDatabase(join(site().files, `${this.name}.db`), statements)
  }

  #content(params: Params, more: readonly object[] = []): string {
    const rows = this.#files === undefined ? { table: 't', cursor_column: 'id' } : { only_new: true }
    const all = { connection_id: this.#connection, ...rows, ...params }
    const tasks = [{ name: 'read', operator: 'ingest_database', params: all, retries: 0 }, ...more]
    return JSON.stringify({ format: 1, dag_id: this.name, tasks })
  }

  async connect(): Promise<void> {
    const made =
      this.#files === undefined
        ? ({ conn_type: 'sqlite', config: { file: `${this.name}.db` } } as const)
        : ({ conn_type: 'parquet', config: { path: this.#files } } as const)
    this.#connection = (await (await ann()).ok(create, { name: this.name, ...made })).uid
  }

  async deploy(params: Params = {}, more: readonly object[] = []): Promise<void> {
    if (this.#connection === '') await this.connect()
    const content = this.#content(params, more)
    const person = await ann()
    if (this.uid === '') this.uid = (await person.ok(deploy, { dag_id: this.name, content })).uid
    else await person.ok(update, { uid: this.uid, content })
    expect(await waitUntilDeployed(person, this.uid)).toMatchObject({ status: 'active' })
  }

  async move(file: string): Promise<void> {
    await (await ann()).ok(updateConnection, { uid: this.#connection, config: { file } })
  }

  async remove(): Promise<void> {
    await (await ann()).ok(remove, { uid: this.uid })
    this.uid = ''
  }

  /** Runs once; returns the ids that landed, or the log of the failure. */
  async read(): Promise<readonly (string | undefined)[] | string> {
    const person = await ann()
    const { dag_run_id } = await person.ok(run, { uid: this.uid })
    const { state } = await waitUntilRunOver(person, this.name, dag_run_id)
    const { items } = await person.ok(errors, { dag_id: this.name, dag_run_id })
    if (state !== 'success') return items[0]?.log ?? 'no log'
    return (await readLanded(this.folderOf(dag_run_id))).map(([id]) => id)
  }

  folderOf(dag_run_id: string, task = 'read'): string {
    const datasets = join(site().folder.data, 'ingest', 'datasets', site().tenant)
    const [of = ''] = readdirSync(datasets).filter((name) => name.startsWith(`${this.uid}.${dag_run_id}.`))
    return join(datasets, of, task)
  }

  /** Folders of the datasets of all runs. */
  listFolders(): string[] {
    const datasets = join(site().folder.data, 'ingest', 'datasets', site().tenant)
    return readdirSync(datasets).flatMap((name) => (name.startsWith(`${this.uid}.`) ? [join(datasets, name)] : []))
  }
}

test('each run lands the rows that are new since the run before, also of the same value', async () => {
  const source = new GrowingSource('growing')
  source.sql("CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (2, 'c')")
  await source.deploy({}, [
    { name: 'names', operator: 'select', params: { columns: ['name'] }, after: ['read'], retries: 0 },
  ])
  expect(await source.read()).toEqual(['1', '2', '2'])
  expect(await source.read()).toEqual([])
  source.sql("INSERT INTO t VALUES (2, 'd'), (2, 'c'), (9007199254740993, 'e')")
  expect(await source.read()).toEqual(['2', '2', '9007199254740993'])
  expect(await source.read()).toEqual([])
  source.sql("INSERT INTO t VALUES (9007199254740993, 'f'), (9007199254740994, 'g')")
  expect(await source.read()).toEqual(['9007199254740993', '9007199254740994'])
  source.sql('DELETE FROM t')
  expect(await source.read()).toEqual([])
  source.sql("INSERT INTO t VALUES (9007199254740994, 'g'), (9007199254740994, 'h')")
  expect(await source.read()).toEqual(['9007199254740994'])
})

test('a new column at the source lets the rows of the greatest value land again, unless the task names its columns', async () => {
  for (const [name, columns, again] of [
    ['widened', undefined, ['2']],
    ['narrow', ['id', 'name'], []],
  ] as const) {
    const source = new GrowingSource(name)
    source.sql("CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    await source.deploy(columns && { columns })
    expect(await source.read()).toEqual(['1', '2'])
    source.sql('ALTER TABLE t ADD COLUMN place TEXT')
    expect(await source.read()).toEqual(again)
    expect(await source.read()).toEqual([])
  }
})

test('a run with nothing new has a dataset of the same columns, from which tasks after it go on', async () => {
  const source = new GrowingSource('nothing')
  source.sql("CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (1, 'a')")
  await source.deploy()
  await source.read()
  await source.read()
  const manifests = source.listFolders().map((folder) => {
    return JSON.parse(readFileSync(join(folder, 'read', 'dataset.json'), 'utf8'))
  })
  const empty = manifests.find(({ rows }) => rows === 0)
  expect(empty).toMatchObject({
    rows: 0,
    columns: [
      { name: 'id', type: 'int64' },
      { name: 'name', type: 'text' },
    ],
  })
  expect(empty.cursor.position).toEqual(manifests.find(({ rows }) => rows === 1).cursor.position)
})

test('other columns, another table, generation or file begin from nothing, and what was before goes on', async () => {
  const source = new GrowingSource('changed')
  const rows = "CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b');"
  source.sql(`${rows} CREATE TABLE u (id INTEGER); INSERT INTO u VALUES (7)`)
  createDatabase(join(site().files, 'changed-too.db'), rows)
  await source.deploy()
  expect(await source.read()).toEqual(['1', '2'])
  await source.deploy({ max_rejects: 5, cursor_generation: 1 })
  expect(await source.read()).toEqual([])
  await source.deploy({ columns: ['id'] })
  expect(await source.read()).toEqual(['1', '2'])
  await source.deploy({ table: 'u' })
  expect(await source.read()).toEqual(['7'])
  await source.deploy({ cursor_generation: 2 })
  expect(await source.read()).toEqual(['1', '2'])
  source.sql("INSERT INTO t VALUES (3, 'c')")
  await source.deploy()
  expect(await source.read()).toEqual(['3'])
  await source.move('changed-too.db')
  expect(await source.read()).toEqual(['1', '2'])
  await source.remove()
  await source.deploy()
  expect(await source.read()).toEqual(['1', '2'])
})

test('a column that cannot be a cursor, and a cursor that is gone, fail the run with the reason', async () => {
  const source = new GrowingSource('refused')
  source.sql(`CREATE TABLE t (id INTEGER, share REAL, mixed, empty, name TEXT, bytes BLOB);
    INSERT INTO t VALUES (1, 0.5, 1, 1, 'a', x'00'), (2, 1.5, 'a', NULL, 'b', x'01')`)
  const cases: readonly (readonly [column: string, reason: string])[] = [
    ['share', 'it has values of the type real'],
    ['mixed', 'it has values of the type integer and text'],
    ['empty', 'a row has no value in it'],
    ['bytes', 'it has values of the type blob'],
    ['none', 'the table has no column "none"'],
  ]
  for (const [cursor_column, reason] of cases) {
    await source.deploy({ cursor_column })
    expect(await source.read()).toContain(reason)
  }
  await source.deploy({ only_new: true, cursor_column: undefined })
  expect(await source.read()).toContain('only_new is for Parquet files')
  await source.deploy({ cursor_column: 'name' })
  expect(await source.read()).toEqual(['1', '2'])
  source.sql("UPDATE t SET name = 7 WHERE id = 2; UPDATE t SET name = CAST(x'ff' AS TEXT) WHERE id = 2")
  expect(await source.read()).toContain('text that is not Unicode')
  source.sql(
    "INSERT INTO t SELECT id + 2, share, mixed, 'c', 'c', bytes FROM t WHERE id = 1; DELETE FROM t WHERE id = 2",
  )
  for (const folder of source.listFolders()) rmSync(folder, { recursive: true })
  expect(await source.read()).toContain('of the run before, which has the cursor, is gone or was changed')
  await source.deploy({ cursor_column: 'name', cursor_generation: 2 })
  expect(await source.read()).toEqual(['1', '3'])
})

test('runs that are requested at once read one after the other', async () => {
  const source = new GrowingSource('at_once')
  source.sql("CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (2, 'c')")
  await source.deploy()
  const read = await Promise.all([source.read(), source.read(), source.read()])
  expect(read.flat().toSorted()).toEqual(['1', '2', '2'])
})

test('of many runs that wait for the one that reads, its end wakes the oldest alone', async () => {
  const source = new GrowingSource('many')
  source.sql('CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1)')
  await source.deploy()
  await source.read()
  const store = site().store('ingest')
  const person = await ann()
  await person.ok(update, { uid: source.uid, action: 'pause' })
  const runs: string[] = []
  const trigger = async () => {
    const { dag_run_id } = await person.ok(run, { uid: source.uid }, { 'idempotency-key': `many-${runs.length}` })
    runs.push(`${source.uid}.${dag_run_id}`)
    site().clock.advance(1)
  }
  const jobs = async () =>
    await Promise.all(runs.map(async (id) => (await store.get(dagRuns, id))?.value ?? expect.unreachable()))
  await trigger()
  const [first = ''] = runs
  const reader = await store.get(dagRuns, first)
  const holder = { run: first, dataset: `${runFolderName(reader ?? expect.unreachable())}/read` }
  const [cursor] = (await store.list(readCursors, { filter: { pipeline: source.uid }, limit: 9 })).docs
  await store.update(readCursors, cursor?.id ?? '', ({ value }) => ({ next: { ...value, holder }, answer: undefined }))
  // The reader sleeps on.
  await store.update(pipelines, source.uid, ({ value }) => ({
    next: { ...value, is_paused: false },
    answer: undefined,
  }))
  for (let waiting = 1; waiting <= 4; waiting += 1) await trigger()
  await waitUntil(async () => (await jobs()).slice(1).every(({ job }) => job.claims === 1 && job.state === 'waiting'))
  const now = site().clock.now()
  await store.update(dagRuns, first, ({ value }) => ({ next: wakeJob(value, now), answer: undefined }))
  site().wakeWorker('ingest', 'jobs')
  await waitUntil(async () => {
    site().clock.advance(1)
    return (await jobs()).every(({ state }) => state === 'success')
  })
  expect((await jobs()).map(({ job }) => job.claims)).toEqual([1, 2, 2, 2, 2])
  const starts = (await jobs()).map(({ started_at = '' }) => started_at)
  expect(starts).toEqual(starts.toSorted())
})

function writeParts(name: string, ids: readonly string[]): void {
  const block = buildBlock(
    ['id'],
    ids.map((id) => [id]),
  )
  writeFileSync(join(site().files, 'parts', name), encodeBlocks(writeParquet, [{ name: 'id', type: 'int64' }], [block]))
}

test('of a folder each run lands the Parquet files that no run before has landed', async () => {
  mkdirSync(join(site().files, 'parts'))
  const source = new GrowingSource('parts', 'parts')
  writeParts('1.parquet', ['1', '2'])
  await source.deploy()
  expect(await source.read()).toEqual(['1', '2'])
  expect(await source.read()).toEqual([])
  writeParts('2.parquet', ['1', '2'])
  writeParts('3.parquet', ['3'])
  expect(await source.read()).toEqual(['1', '2', '3'])
  // The same size, another content.
  writeParts('3.parquet', ['4'])
  rmSync(join(site().files, 'parts', '1.parquet'))
  expect(await source.read()).toEqual(['4'])
  writeParts('1.parquet', ['1', '2'])
  writeParts('3.parquet', ['3'])
  expect(await source.read()).toEqual([])
  for (const name of ['1.parquet', '2.parquet', '3.parquet']) rmSync(join(site().files, 'parts', name))
  expect(await source.read()).toEqual([])
  await source.deploy({ cursor_generation: 2 })
  expect(await source.read()).toContain('the folder has no file that ends in .parquet')
})
