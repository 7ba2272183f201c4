// The packaged executable takes in a file and a database: its threads have neither the sources of modules nor its files.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { create } from '../../daemon/roles/ingest/connection/create.ts'
import { deploy } from '../../daemon/roles/ingest/datapipeline/deploy.ts'
import { get } from '../../daemon/roles/ingest/datapipeline/get.ts'
import { run } from '../../daemon/roles/ingest/datapipeline/run.ts'
import { createDatabase } from '../roles/ingest/ingest-site.ts'
import { runExecutableSync } from '../support/command/run-executable.ts'
import { findFreePorts } from '../support/engines/server-process.ts'
import { type CheckedClient, createCheckedClient } from '../support/http/checked-client.ts'
import { sendHttpRequest } from '../support/http/send-http-request.ts'
import { createPackagedSite, type PackagedSite, type ServedSite } from '../support/site/packaged-site.ts'
import { waitUntil } from '../support/site/test-site.ts'

type CallArguments = Parameters<typeof sendHttpRequest> extends [string, ...infer Rest] ? Rest : never

let site: PackagedSite
let served: ServedSite
let olga: CheckedClient
const server = createServer((_request, response) => response.end('a,b\n1,2\n'))

beforeAll(async () => {
  site = createPackagedSite('demo')
  const data_folder = path.join(site.dir, 'files')
  const own = path.join(data_folder, 'acme')
  mkdirSync(own, { recursive: true })
  writeFileSync(path.join(own, 'people.csv'), 'id,name\n1,Ann\n2,Bob\n')
  createDatabase(
    path.join(own, 'ledger.db'),
    'CREATE TABLE entry (id, amount); INSERT INTO entry VALUES (1, 2), (3, 4)',
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const http_source = `{ name: files, url: 'http://127.0.0.1:${(server.address() as AddressInfo).port}/data' }`
  site.edit('roles: [site, consensus, resolution]', 'roles: [site, ingest]')
  site.edit(
    '\ningest:\n',
    `\ningest:\n  data_folder: ${data_folder}\n  trusted_networks: [127.0.0.1]\n  http_sources: [${http_source}]\n  download_scanner: { command: [/bin/true] }\n`,
  )
  served = await site.serve()
  const minted = site.run(['token', 'mint', '--subject', 'olga', '--roles', 'operator', '--json'])
  const url = `http://127.0.0.1:${served.ports.ingest}`
  const requester = { call: (_role: string, ...args: CallArguments) => sendHttpRequest(url, ...args) }
  olga = createCheckedClient(requester, JSON.parse(minted.stdout).token, () => 'ingest')
})
afterAll(async () => {
  await served?.stop()
  site?.remove()
  server.close()
})

async function runTasks(dag_id: string, task: object, more: readonly object[] = []) {
  const content = JSON.stringify({ format: 1, dag_id, tasks: [{ name: 'read', ...task }, ...more] })
  const { uid } = await olga.ok(deploy, { dag_id, content, run_on_deploy: true })
  return await waitUntil(async () => {
    const { last_run, fault } = await olga.ok(get, { uid })
    return (fault || last_run?.state === 'success' || last_run?.state === 'failed') && { uid, last_run, fault }
  })
}

const listDatasets = (uid: string) =>
  readdirSync(path.join(site.dir, 'data/ingest/datasets/acme')).filter((name) => name.startsWith(`${uid}.`))

test('a file lands as a dataset', async () => {
  const { uid, last_run } = await runTasks('people', { operator: 'ingest_file', params: { file: 'people.csv' } })
  expect(last_run).toMatchObject({ state: 'success' })
  expect(listDatasets(uid)).toHaveLength(1)
})

test('a file of a server is scanned, and lands', async () => {
  const params = { source: 'files', path: 'a.csv' }
  const { uid, last_run, fault } = await runTasks('files', { operator: 'ingest_http', params })
  expect({ fault, last_run }).toMatchObject({ fault: undefined, last_run: { state: 'success' } })
  expect(listDatasets(uid)).toHaveLength(1)
})

test('datasets are combined, tested and written', async () => {
  const on = [{ left: 'name', right: 'name' }]
  const values = [{ as: 'people', function: 'count' }]
  const rules = [{ name: 'has people', where: { column: 'people', is: 'greater', value: 0 } }]
  const { uid, last_run, fault } = await runTasks(
    'combined',
    { operator: 'ingest_file', params: { file: 'people.csv' } },
    [
      { name: 'counted', operator: 'aggregate', params: { by: ['name'], values }, after: ['read'] },
      { name: 'joined', operator: 'join', params: { on }, after: ['read', 'counted'] },
      { name: 'tested', operator: 'validate', params: { rules }, after: ['joined'] },
      { name: 'out', operator: 'write', params: { file: 'people.csv' }, after: ['tested'] },
    ],
  )
  expect({ fault, last_run }).toMatchObject({ fault: undefined, last_run: { state: 'success' } })
  const output = path.join(site.dir, 'data/ingest/output/acme', uid, 'people.csv')
  expect(readFileSync(output, 'utf8')).toBe('id,name,people\n1,Ann,1\n2,Bob,1\n')
})

test('a table of a SQLite file lands, for each of several runs', async () => {
  const config = { file: 'ledger.db' }
  const made = await olga.ok(create, { name: 'ledger', conn_type: 'sqlite', config })
  expect(made.test).toMatchObject({ ok: true })
  const params = { connection_id: made.uid, table: 'entry' }
  const { uid, last_run } = await runTasks('ledger', { operator: 'ingest_database', params })
  expect(last_run).toMatchObject({ state: 'success' })
  await olga.ok(run, { uid })
  await waitUntil(() => listDatasets(uid).length === 2)
})

test('a thread has the library of a database', async () => {
  const [port = 0] = await findFreePorts(1)
  const config = { host: '127.0.0.1', port, database: 'people', username: 'reader' }
  const made = await olga.ok(create, { name: 'people', conn_type: 'postgres', config })
  expect(made.test).toEqual({ ok: false, detail: 'the server did not answer (ECONNREFUSED)' })
})

test('a worker performs one task, a SQLite file included', () => {
  const step = (task: object, more: object = {}) => {
    const file = path.join(site.dir, 'step.json')
    writeFileSync(file, JSON.stringify({ format: 1, tenant_id: 'acme', pipeline: 'pl_1', run: 'r', task, ...more }))
    const folders = ['--folder', path.join(site.dir, 'worker'), '--data-folder', path.join(site.dir, 'files')]
    return runExecutableSync(['ingest', 'step', file, ...folders, '--json'])
  }
  const ended = [
    step({ name: 'people', operator: 'ingest_file', params: { file: 'people.csv' } }),
    step(
      { name: 'entries', operator: 'ingest_database', params: { connection_id: 'c', table: 'entry' } },
      { connection: { conn_type: 'sqlite', config: { file: 'ledger.db' } } },
    ),
  ]
  expect(ended).toMatchObject([{ exit: 0 }, { exit: 0 }])
  expect(ended.map(({ stdout }) => JSON.parse(stdout).dataset.rows)).toEqual([2, 2])
})
