// Pipelines that read by connections on a real site: what lands, and what hostile sources and callers meet.
import { copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { create } from '../../../daemon/roles/ingest/connection/create.ts'
import { get } from '../../../daemon/roles/ingest/connection/get.ts'
import { remove } from '../../../daemon/roles/ingest/connection/remove.ts'
import { update } from '../../../daemon/roles/ingest/connection/update.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { remove as removePipeline } from '../../../daemon/roles/ingest/datapipeline/remove.ts'
import { update as updatePipeline } from '../../../daemon/roles/ingest/datapipeline/update.ts'
import { createDatabase, ingestContent, readByConnection, setUpIngestSite, waitUntilDeployed } from './ingest-site.ts'

const site = setUpIngestSite()
const ann = () => site().as({ roles: ['admin'] })

async function connect(config: Readonly<Record<string, string>>, conn_type: 'sqlite' | 'parquet' = 'sqlite') {
  return await (await ann()).ok(create, { name: 'a source', conn_type, config })
}

const readManifest = (run = '') => JSON.parse(readFileSync(join(run, 'read', 'dataset.json'), 'utf8'))

test('a table of a SQLite file lands with its types, every digit and no row of another table', async () => {
  const statements = `CREATE TABLE "odd ""name" (id INTEGER PRIMARY KEY, name TEXT, share REAL, note BLOB, big INTEGER);
    INSERT INTO "odd ""name" VALUES (1, 'Ann', 0.5, x'00ff', 9007199254740993), (2, 'line
break', 1.25, NULL, -1); CREATE TABLE other (x); INSERT INTO other VALUES (1), (2), (3);`
  createDatabase(join(site().files, 'people.db'), statements)
  const { uid, test: tested } = await connect({ file: 'people.db' })
  expect(tested).toEqual({ ok: true, detail: expect.stringMatching(/^a SQLite database of \d+ bytes$/) })
  const done = await readByConnection(site(), await ann(), 'sqlite', { connection_id: uid, table: 'odd "name' })
  expect(done.log).toBeUndefined()
  expect(done.state).toBe('success')
  const manifest = readManifest(done.run)
  expect(manifest).toMatchObject({ rows: 2, rejects: { rows: 0 } })
  expect(manifest.columns.map(({ name, type }: { name: string; type: string }) => [name, type])).toEqual([
    ['id', 'int64'],
    ['name', 'text'],
    ['share', 'double'],
    ['note', 'text'],
    ['big', 'int64'],
  ])
  // Nothing of the copy and of the rows in between stays.
  expect(readdirSync(done.run ?? '')).toEqual(['read'])
})

test('a view, a virtual table, a missing column and a huge value end the run with the reason', async () => {
  const statements = `CREATE TABLE plain (a, big AS (zeroblob(100000000)));
    INSERT INTO plain VALUES (1); CREATE TABLE huge (a); INSERT INTO huge VALUES (zeroblob(2000000));
    CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT 1 FROM c) SELECT count(*) FROM c;
    CREATE VIRTUAL TABLE words USING fts5(t);`
  createDatabase(join(site().files, 'hostile.db'), statements)
  const cases: readonly (readonly [params: Readonly<Record<string, unknown>>, reason: string])[] = [
    [{ table: 'endless' }, 'the database has no table "endless"'],
    [{ table: 'words' }, 'the database has no table "words"'],
    [{ table: 'sqlite_schema' }, 'the database has no table "sqlite_schema"'],
    [{ table: "plain'; ATTACH 'x' AS y" }, 'the database has no table'],
    [{ table: 'plain', columns: ['big'] }, 'the table has no column "big"'],
    [{ table: 'huge' }, 'a row has a value of more than 1048576 bytes'],
    [{}, 'a task that reads sqlite names a table'],
  ]
  for (const [at, [params, reason]] of cases.entries()) {
    const { uid } = await connect({ file: 'hostile.db' })
    const done = await readByConnection(site(), await ann(), `hostile_${at}`, { connection_id: uid, ...params })
    expect(done.log).toContain(reason)
    expect(done.log).not.toContain(site().folder.data)
    expect(readdirSync(done.run ?? '')).toEqual([])
  }
  const { uid } = await connect({ file: 'hostile.db' })
  const plain = await readByConnection(site(), await ann(), 'plain', { connection_id: uid, table: 'plain' })
  expect(readManifest(plain.run).columns.map(({ name }: { name: string }) => name)).toEqual(['a'])
})

test('a file by a link, a second name, a file with a journal and one that is no database are not read', async () => {
  createDatabase(join(site().files, 'true.db'), 'CREATE TABLE t (a)')
  symlinkSync('true.db', join(site().files, 'link.db'))
  linkSync(join(site().files, 'true.db'), join(site().files, 'second.db'))
  symlinkSync('/etc', join(site().files, 'outside'))
  createDatabase(join(site().files, 'open.db'), 'CREATE TABLE t (a)')
  site().writeFile('open.db-wal', 'pages')
  site().writeFile('text.db', 'a,b\n1,2\n')
  const cases: readonly (readonly [file: string, reason: string])[] = [
    ['link.db', 'does not exist'],
    ['second.db', 'has a second name'],
    ['outside/passwd', 'does not exist'],
    ['open.db', 'a program has the database open'],
    ['none.db', 'does not exist'],
  ]
  for (const [at, [file, reason]] of cases.entries()) {
    const { uid, test: tested } = await connect({ file })
    expect(tested).toEqual({ ok: false, detail: expect.stringContaining(reason) })
    const params = { connection_id: uid, table: 't' }
    expect((await readByConnection(site(), await ann(), `linked_${at}`, params)).log).toContain(reason)
  }
  const { uid, test: tested } = await connect({ file: 'text.db' })
  expect(tested).toEqual({ ok: false, detail: 'the data file is not a SQLite database' })
  const done = await readByConnection(site(), await ann(), 'not_one', { connection_id: uid, table: 't' })
  expect(done.log).toContain('cannot be read as a SQLite database (SQLITE_NOTADB)')
})

test('Parquet files of a folder land as one dataset, and a link among them ends the run', async () => {
  createDatabase(join(site().files, 'source.db'), 'CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)')
  const source = await connect({ file: 'source.db' })
  const made = await readByConnection(site(), await ann(), 'source', { connection_id: source.uid, table: 't' })
  const [{ name }] = readManifest(made.run).files
  mkdirSync(join(site().files, 'parts'))
  for (const part of ['1.parquet', '2.parquet'])
    copyFileSync(join(made.run ?? '', 'read', name), join(site().files, 'parts', part))
  const folder = await connect({ path: 'parts' }, 'parquet')
  expect(folder.test).toEqual({ ok: true, detail: '2 Parquet files' })
  const done = await readByConnection(site(), await ann(), 'parts', { connection_id: folder.uid })
  expect(readManifest(done.run)).toMatchObject({ rows: 4, inputs: [{ name: '1.parquet' }, { name: '2.parquet' }] })
  const single = await connect({ path: 'parts/1.parquet' }, 'parquet')
  expect(single.test).toEqual({ ok: true, detail: '1 Parquet file' })
  symlinkSync('1.parquet', join(site().files, 'parts', '3.parquet'))
  const linked = await connect({ path: 'parts' }, 'parquet')
  expect(linked.test).toMatchObject({ ok: false })
  expect((await readByConnection(site(), await ann(), 'linked', { connection_id: linked.uid })).state).toBe('failed')
})

test('a connection has one pipeline, and stays while it reads by it', async () => {
  const person = await ann()
  const { uid } = await connect({ file: 'source.db' })
  const params = { connection_id: uid, table: 't' }
  const first = await readByConnection(site(), person, 'first', params)
  const contentOf = (dag_id: string) =>
    JSON.stringify({ format: 1, dag_id, tasks: [{ name: 'read', operator: 'ingest_database', params }] })
  expect(await person.refusal(deploy, { dag_id: 'second', content: contentOf('second') })).toBe('wrong_state')
  site().writeFile('third.csv', 'a\n1\n')
  const third = await person.ok(deploy, { dag_id: 'third', content: ingestContent('third', 'third.csv') })
  await waitUntilDeployed(person, third.uid)
  expect(await person.refusal(updatePipeline, { uid: third.uid, content: contentOf('third') })).toBe('wrong_state')
  const { status, json } = await site().call('ingest', 'DELETE', `/userspace/connection/${uid}`, undefined, {
    token: await site().token({ roles: ['admin'] }),
  })
  expect(status).toBe(409)
  expect(json).toMatchObject({ detail: expect.stringContaining('the DAG first') })
  expect(await person.ok(get, { uid })).toMatchObject({ uid })

  await person.ok(removePipeline, { uid: first.uid })
  await person.ok(updatePipeline, { uid: third.uid, content: contentOf('third') })
  expect(await waitUntilDeployed(person, third.uid)).toMatchObject({ status: 'active' })
  await person.ok(updatePipeline, { uid: third.uid, content: ingestContent('third', 'third.csv') })
  await waitUntilDeployed(person, third.uid)
  await person.ok(remove, { uid })
})

test('a pipeline reads by no connection of another tenant, above its label, or above its owner', async () => {
  const config = { file: 'source.db' }
  const high = { name: 'high', conn_type: 'sqlite', config, classification: { level: 'SECRET' } } as const
  const { uid } = await (await ann()).ok(create, high)
  const params = { connection_id: uid, table: 't' }
  const other = await site().as({ subject: 'eve', roles: ['admin'], tenant: 'tenant-z' })
  const low = await site().as({ subject: 'bob', roles: ['admin'], clearance: { level: 'RESTRICTED' } })
  for (const [at, stranger] of [other, low].entries()) {
    const { status, fault } = await readByConnection(site(), stranger, `stranger_${at}`, params)
    expect([status, fault?.reason]).toEqual(['rejected', expect.stringContaining('there is no connection')])
  }
  const lowered = await readByConnection(site(), await ann(), 'lowered', params)
  expect([lowered.status, lowered.fault?.reason]).toEqual(['rejected', expect.stringContaining('a higher label')])
})

test('a private address that the profile does not name is never contacted, with or without a secret', async () => {
  let contacts = 0
  const server = createServer((_, response) => {
    contacts += 1
    response.end('{}')
  })
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  try {
    const { port } = server.address() as AddressInfo
    const person = await ann()
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1']) {
      const made = await person.ok(create, {
        ...{ name: 'inside', conn_type: 'elasticsearch', config: { url: `http://${host}:${port}` } },
        secret: JSON.stringify({ password: 'pw' }),
      })
      expect([host, made.test.ok]).toEqual([host, false])
      const done = await readByConnection(site(), person, `inside_${host.replaceAll(/[^a-z0-9]/g, '_')}`, {
        connection_id: made.uid,
        table: 'people',
      })
      expect(done.state).toBe('failed')
    }
    expect(contacts).toBe(0)
  } finally {
    server.close()
  }
})

test('another server clears the secret, the same one keeps it, and a new secret names its server', async () => {
  const person = await ann()
  const config = { url: 'http://127.0.0.1:9', index: 'people' }
  const secret = JSON.stringify({ password: 'pw' })
  const { uid } = await person.ok(create, { name: 's', conn_type: 'elasticsearch', config, secret })
  expect(await person.ok(update, { uid, name: 'renamed' })).toMatchObject({ name: 'renamed', has_secret: true })
  expect(await person.ok(update, { uid, config: { ...config, index: 'other' } })).toMatchObject({ has_secret: true })
  expect(await person.refusal(update, { uid, secret })).toBe('invalid')
  const elsewhere = { ...config, url: 'http://127.0.0.2:9' }
  expect(await person.ok(update, { uid, config: elsewhere })).toMatchObject({ has_secret: false })
  expect(await person.ok(update, { uid, config: elsewhere, secret })).toMatchObject({ has_secret: true })
})
