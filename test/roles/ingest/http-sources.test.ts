// Pipelines that download files from sources of the profile: what lands, and what hostile servers and authors meet.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadDataWriter } from '../../../adapters/platform/data-file/data-kinds.ts'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { startFileServer } from '../../support/ingest/file-server.ts'
import { startTestSite } from '../../support/site/test-site.ts'
import { readLanded, setUpIngestSite } from './ingest-site.ts'
import { deployAndRun } from './run-tasks.ts'

const server = await startFileServer()
const secrets = mkdtempSync(path.join(tmpdir(), 'http-sources-'))
const authorization_file = path.join(secrets, 'authorization')
writeFileSync(authorization_file, 'Bearer s3cr3t-of-the-source\n', { mode: 0o600 })
const bare_file = path.join(secrets, 'bare')
writeFileSync(bare_file, 'Bearer x\r\nx-admin: yes\n', { mode: 0o600 })
const url = `https://127.0.0.1:${server.port}/data`
const trusted = { url, ca_file: server.ca_file }

const site = setUpIngestSite({
  trusted_networks: ['127.0.0.1'],
  download_scanner: { command: ['/bin/sh', '-c', '! grep -q INFECTED "$0"'] },
  http_sources: [
    { name: 'files', ...trusted, authorization_file },
    { name: 'bounded', ...trusted, max_bytes: 100_000, timeout_s: 1 },
    { name: 'machine', url },
    { name: 'other-ca', url, ca_file: server.other_ca_file },
    { name: 'no-ca', url, ca_file: authorization_file },
    { name: 'two-lines', ...trusted, authorization_file: bare_file },
    { name: 'private', url: 'https://10.0.0.1/data' },
    { name: 'secret', ...trusted, classification: 'SECRET' },
    { name: 'foreign', ...trusted, tenant_id: 'tenant-b' },
  ],
})
afterAll(() => {
  server.close()
  rmSync(secrets, { recursive: true, force: true })
})

let count = 0
async function download(params: Readonly<Record<string, unknown>>) {
  count += 1
  const task = { name: 'read', operator: 'ingest_http', params }
  return { dag_id: `http_${count}`, ...(await deployAndRun(site(), `http_${count}`, [task])) }
}

function serveText(at: string, text: string, type?: string): void {
  server.files.set(at, { bytes: Buffer.from(text), ...(type === undefined ? {} : { type }) })
}

test('a file lands with its types, its digest and the authorization of the profile', async () => {
  serveText('/data/people.csv?day=1', 'id,name\n1,Ann\n2,Bob\n')
  const done = await download({ source: 'files', path: 'people.csv?day=1' })
  expect(done).toMatchObject({ state: 'success' })
  const folder = path.join(done.run ?? '', 'read')
  expect(await readLanded(folder)).toEqual([
    ['1', 'Ann'],
    ['2', 'Bob'],
  ])
  const manifest = readFileSync(path.join(folder, 'dataset.json'), 'utf8')
  expect(JSON.parse(manifest)).toMatchObject({
    columns: [
      { name: 'id', type: 'int64' },
      { name: 'name', type: 'text' },
    ],
    inputs: [{ name: 'people.csv', bytes: 20, rows: 2 }],
  })
  expect(manifest).not.toContain('s3cr3t')
  expect(server.requests.at(-1)).toEqual({
    path: '/data/people.csv?day=1',
    authorization: 'Bearer s3cr3t-of-the-source',
  })
  const { tasks } = await (await site().as()).ok(runStatus, { dag_id: done.dag_id, dag_run_id: 'deploy__1' })
  expect(tasks[0]?.lineage).toMatchObject({ rows_in: 2, rows_out: 2, inputs: [{ name: 'people.csv' }] })
  // Nothing of the download stays beside the dataset.
  expect(readdirSync(done.run ?? '')).toEqual(['read'])
})

test('each format is known by the name, by the media type, or as it is stated', async () => {
  const pieces: Uint8Array[] = []
  const write = (await loadDataWriter('parquet'))([{ name: 'a', type: 'int64' }], (bytes) => {
    pieces.push(bytes.slice())
  })
  write.write({
    names: ['a'],
    rows: 1,
    columns: [{ name: 'a', bytes: Buffer.from('1'), starts: Int32Array.of(0), ends: Int32Array.of(1) }],
  })
  write.end()
  server.files.set('/data/a.parquet', { bytes: Buffer.concat(pieces) })
  serveText('/data/lines', '{"a":1}\n', 'application/x-ndjson; charset=utf-8')
  serveText('/data/document', '[{"a":1}]', 'Application/JSON')
  serveText('/data/list', '<l><i><a>1</a></i></l>', 'text/xml')
  serveText('/data/export', 'a\tb\n1\t2\n', 'application/octet-stream')
  const cases: readonly (readonly [params: object, rows: readonly (readonly string[])[]])[] = [
    [{ path: 'a.parquet' }, [['1']]],
    [{ path: 'lines' }, [['1']]],
    [{ path: 'document' }, [['1']]],
    [{ path: 'list', read_as: { pointer: '/l/i' } }, [['1']]],
    [{ path: 'export', read_as: { format: 'tsv' } }, [['1', '2']]],
  ]
  for (const [params, rows] of cases) {
    const done = await download({ source: 'files', ...params })
    expect(done.log).toBeUndefined()
    expect(await readLanded(path.join(done.run ?? '', 'read'))).toEqual(rows)
  }
  const unknown = await download({ source: 'files', path: 'export' })
  expect(unknown).toMatchObject({ state: 'failed', log: expect.stringContaining('the format of the file is unknown') })
})

test('a redirect is followed within the source, and the credential goes nowhere else', async () => {
  serveText('/data/moved/people.csv', 'a\n1\n')
  serveText('/private/people.csv', 'a\n1\n')
  expect(await download({ source: 'files', path: 'within.csv' })).toMatchObject({ state: 'success' })
  server.requests.length = 0
  for (const name of ['outside.csv', 'elsewhere.csv', 'dotted.csv']) {
    const done = await download({ source: 'files', path: name })
    expect(done).toMatchObject({ state: 'failed', log: expect.stringContaining('redirects to a place outside') })
    expect(done.log).not.toContain('localhost')
  }
  expect(server.requests.map((each) => each.path)).toEqual([
    '/data/outside.csv',
    '/data/elsewhere.csv',
    '/data/dotted.csv',
  ])
  const around = await download({ source: 'files', path: 'around.csv' })
  expect(around.log).toContain('redirects more than 5 times')
})

test('bad answers, bad certificates and closed addresses end the task with the reason and no dataset', async () => {
  serveText('/data/infected.csv', 'a\nINFECTED\n')
  serveText('/data/page.xlsx', '<html>log in</html>')
  const cases: readonly (readonly [source: string, file: string, reason: string])[] = [
    ['files', 'gzip.csv', 'sends the file compressed'],
    ['files', 'short.csv', 'broke off'],
    ['files', 'error.csv', 'the server answered 500'],
    ['files', 'absent.csv', 'the server has no such file'],
    ['files', 'infected.csv', 'the scanner refuses the file'],
    ['files', 'page.xlsx', 'files: page.xlsx'],
    ['bounded', 'endless.csv', 'has more than 100000 bytes'],
    ['bounded', 'silent.csv', 'did not arrive within 1 s'],
    ['machine', 'people.csv', 'the server did not answer'],
    ['other-ca', 'people.csv', 'the server did not answer'],
    ['no-ca', 'people.csv', 'has no certificate in PEM'],
    ['two-lines', 'people.csv', 'is empty or not one line'],
    ['private', 'people.csv', 'the profile does not permit the address'],
  ]
  for (const [source, file, reason] of cases) {
    const { state, log, run } = await download({ source, path: file })
    expect(log).toContain(reason)
    expect(log).not.toMatch(/127\.0\.0\.1|10\.0\.0\.1|s3cr3t|\/tmp\//)
    expect(state).toBe('failed')
    expect(readdirSync(run ?? '')).toEqual([])
  }
})

test('a source that is absent, of another tenant or of a higher label refuses the deployment', async () => {
  const absent = 'the profile has no source'
  const before = server.requests.length
  for (const [source, reason] of [
    ['none', absent],
    ['foreign', absent],
    ['secret', 'has a higher label than the pipeline'],
  ] as const)
    expect((await download({ source, path: 'people.csv' })).fault?.reason).toContain(reason)
  const paths = [
    '../private/people.csv',
    'a/../../x',
    './a',
    'a//b',
    '/a',
    '%2e%2e/a',
    'a%2Fb',
    'a\\b',
    'a b',
    'a#b',
    '',
  ]
  for (const at of paths)
    expect((await download({ source: 'files', path: at })).fault).toMatchObject({ path: 'tasks.0.params.path' })
  expect(server.requests).toHaveLength(before)
})

test('a profile with a plain URL for a strict site, or an unknown level, does not start', async () => {
  const source = { name: 'plain', url: 'http://files.example/data' }
  const start = (http_sources: readonly object[], template?: string) =>
    startTestSite({
      ...(template === undefined ? {} : { template }),
      profile: { platform: { roles: ['site', 'ingest'] }, ingest: { port: 0, http_sources } },
    })
  await expect(start([source], 'classified-airgapped')).rejects.toThrow(/plain: url: must use https/)
  await expect(start([{ ...source, classification: 'NONE' }])).rejects.toThrow(/"NONE" is not one of labels.levels/)
})
