// Connections on a real site: templates, sealed secrets, live tests, and requests of those who should not see them.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { create } from '../../../daemon/roles/ingest/connection/create.ts'
import { get } from '../../../daemon/roles/ingest/connection/get.ts'
import { list } from '../../../daemon/roles/ingest/connection/list.ts'
import { remove } from '../../../daemon/roles/ingest/connection/remove.ts'
import { statuses } from '../../../daemon/roles/ingest/connection/statuses.ts'
import { test as testNow } from '../../../daemon/roles/ingest/connection/test.ts'
import {
  checkConfig,
  checkSecret,
  connectionTypes,
  findConnectionType,
  leadsToSameServer,
  renderTemplate,
} from '../../../daemon/roles/ingest/connection/type/catalog.ts'
import { update } from '../../../daemon/roles/ingest/connection/update.ts'
import { callTool } from '../../support/mcp/mcp-client.ts'
import { createDatabase, setUpIngestSite } from './ingest-site.ts'

const site = setUpIngestSite()
const port = () => Number(new URL(site().url('ingest')).port)

/** The types of the interface document, in its order. */
const documented = [
  ...['postgres', 'mysql', 'sqlite', 'mssql', 'oracle', 'snowflake', 'bigquery', 'databricks', 'mongo', 'couchbase'],
  ...['cassandra', 'redis', 'elasticsearch', 'azure_blob', 'aws_s3', 'gcs', 'sharepoint', 'kafka', 'rabbitmq', 'spark'],
  'parquet',
]

test('there is a template for each documented type, which marks every secret field and no other', async () => {
  expect(connectionTypes.map(({ name }) => name)).toEqual(documented)
  const token = await site().token({ roles: ['admin'] })
  for (const { name, secret } of connectionTypes) {
    const { structuredContent } = await callTool(port(), 'connection_schema', { conn_type: name }, { token })
    const { template } = structuredContent as { template: { properties: Record<string, { writeOnly?: boolean }> } }
    const marked = Object.entries(template.properties).filter(([, field]) => field.writeOnly === true)
    expect(marked.map(([field]) => field)).toEqual(Object.keys(secret?.shape ?? {}))
    expect(template).toEqual(renderTemplate(findConnectionType(name)))
  }
})

test('a connection is checked by its template first, and no fault repeats a value', async () => {
  const ann = await site().as({ roles: ['admin'] })
  const token = await site().token({ roles: ['admin'] })
  const faulty: readonly (readonly [body: object, path: string])[] = [
    [{ config: {} }, 'config.file'],
    [{ config: { file: '../other/people.db' } }, 'config.file'],
    [{ config: { file: '/etc/passwd' } }, 'config.file'],
    [{ config: { file: 'a.db', password: 'canary-of-a-fault' } }, 'config.password'],
    [{ config: { file: 'a.db' }, secret: '{"password":"canary-of-a-fault"}' }, 'secret'],
  ]
  for (const [more, path] of faulty) {
    const body = { name: 'faulty', conn_type: 'sqlite', ...more }
    const { status, text } = await site().call('ingest', 'POST', '/userspace/connection', body, { token })
    expect(status).toBe(422)
    expect(JSON.parse(text).errors[0].path).toBe(path)
    expect(text).not.toContain('canary')
  }
  const unreadable = { name: 'o', conn_type: 'snowflake', config: { account: 'ORG-X', username: 'x', database: 'x' } }
  expect(await ann.refusal(create, unreadable)).toBe('needs_airflow')
  expect((await ann.ok(list, {})).items).toEqual([])
})

test('a connection is tested when it is created, and later; the test has no path', async () => {
  const ann = await site().as({ roles: ['admin'] })
  createDatabase(join(site().files, 'good.db'), 'CREATE TABLE people (id INTEGER)')
  site().writeFile('bad.db', 'id,name\n')
  const good = await ann.ok(create, { name: 'good', conn_type: 'sqlite', config: { file: 'good.db' } })
  expect(good).toMatchObject({ subtype: 'datapipelineconnection', has_secret: false, test: { ok: true } })
  const bad = await ann.ok(create, { name: 'bad', conn_type: 'sqlite', config: { file: 'bad.db' } })
  expect(bad.test).toEqual({ ok: false, detail: 'the data file is not a SQLite database' })
  expect(await ann.ok(testNow, { uid: good.uid })).toMatchObject({ uid: good.uid, ok: true })
  const { items } = await ann.ok(statuses, {})
  expect(items.map(({ name, ok }) => [name, ok]).toSorted()).toEqual([
    ['bad', false],
    ['good', true],
  ])
  site().writeFile('good.db', 'no longer')
  expect(await ann.ok(testNow, { uid: good.uid })).toMatchObject({ ok: false })
  await ann.ok(remove, { uid: bad.uid })
  expect(await ann.refusal(get, { uid: bad.uid })).toBe('not_found')
})

test('connections of another tenant and above the clearance are not there', async () => {
  const ann = await site().as({ roles: ['admin'] })
  const config = { file: 'good.db' }
  const secret = { name: 'high', conn_type: 'sqlite', config, classification: { level: 'SECRET' } } as const
  const { uid } = await ann.ok(create, secret)
  const low = await site().as({ subject: 'bob', roles: ['admin'], clearance: { level: 'RESTRICTED' } })
  const other = await site().as({ subject: 'eve', roles: ['admin'], tenant: 'tenant-z' })
  for (const stranger of [low, other]) {
    expect(await stranger.refusal(get, { uid })).toBe('not_found')
    expect(await stranger.refusal(testNow, { uid })).toBe('not_found')
    expect((await stranger.ok(list, {})).items.map((each) => each.uid)).not.toContain(uid)
    expect((await stranger.ok(statuses, {})).items.map((each) => each.uid)).not.toContain(uid)
    expect(['not_found', 'not_your_tenant']).toContain(await stranger.refusal(remove, { uid }))
    expect(['not_found', 'not_your_tenant']).toContain(await stranger.refusal(update, { uid, name: 'mine' }))
  }
  const analyst = await site().as({ subject: 'al', roles: ['analyst'] })
  expect(await analyst.refusal(create, { name: 'no', conn_type: 'sqlite', config })).toBe('forbidden')
  expect(await analyst.ok(get, { uid })).toMatchObject({ uid })
})

test('a tool takes no secret, and creates the connection without it', async () => {
  const token = await site().token({ roles: ['admin'] })
  const input = { name: 'by tool', conn_type: 'sqlite', config: { file: 'good.db' } }
  const made = await callTool(port(), 'connection_create', input, { token })
  expect(made.structuredContent).toMatchObject({ has_secret: false })
  const refused = await callTool(port(), 'connection_create', { ...input, secret: '{}' }, { token })
  expect(refused.isError).toBe(true)
})

test('a secret stays only where the fields lead to the same server', () => {
  const redis = findConnectionType('redis')
  const at = (more: object) => {
    const config = checkConfig(redis, { host: 'a.example', ...more })
    if (isRefusal(config)) throw config
    return config
  }
  expect(leadsToSameServer(redis, at({}), at({ database: 3 }))).toBe(true)
  for (const change of [{ host: 'b.example' }, { port: 1 }, { tls: 'off' }, { username: 'eve' }])
    expect(leadsToSameServer(redis, at({}), at(change))).toBe(false)
  // Every type: no field that could name another server is among those that keep the secret.
  for (const { selects, config } of connectionTypes) {
    for (const name of selects) expect(Object.keys(config.shape)).toContain(name)
    for (const name of selects) expect(name).not.toMatch(/host|port|url|endpoint|tls|user|account|region|path|broker/)
  }
})

test('a field that names a server takes no URL with a user, no second server and no huge value', () => {
  const hostile = ['a.example/x', 'user@a.example', 'a.example:80', 'a example', '\u0000', 'a'.repeat(300), '']
  const redis = findConnectionType('redis')
  for (const host of hostile) expect(isRefusal(checkConfig(redis, { host })), host).toBe(true)
  const elastic = findConnectionType('elasticsearch')
  for (const url of ['http://u:p@a.example', 'file:///etc', 'http://a.example?x', 'http://a.example#x', 'gopher://a'])
    expect(isRefusal(checkConfig(elastic, { url })), url).toBe(true)
  for (const secret of ['', '[]', '"x"', '{"password":1}', '{"other":"x"}', '{}', '{"password":"a","password":"b"}'])
    expect(isRefusal(checkSecret(redis, secret)), secret).toBe(true)
  expect(checkSecret(redis, '{"password":"pw"}')).toBe('{"password":"pw"}')
})
