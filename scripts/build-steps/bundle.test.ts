// Scripts of the executable: no fault points in a release, and each library of a source apart.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { providePdfScript } from '../../adapters/format/pdf/pdf-script.ts'
import { readPdf } from '../../adapters/format/pdf/read-pdf.ts'
import { usualLimits } from '../../daemon/kernel/data/read-options.ts'
import { loadDriver } from '../../daemon/runtime/ingest/connection/source-driver.ts'
import { listRows, memoryRanges } from '../../test/support/data/memory-source.ts'
import { listenAsOracle, refusePacket } from '../../test/support/engines/scripted-listener.ts'
import { listenAsTds } from '../../test/support/engines/scripted-tds.ts'
import { TdsTables } from '../../test/support/engines/tds-tables.ts'
import { readRowsBy } from '../../test/support/ingest/read-rows-by.ts'
import { bundle } from './bundle.mjs'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

async function buildScripts(hasFaultPoints: boolean): Promise<string> {
  const into = mkdtempSync(path.join(tmpdir(), 'bundle-'))
  folders.push(into)
  await bundle({ root: path.resolve('.'), into, target: 'linux-x64', hasFaultPoints })
  return into
}

/** The scripts of a release. */
let release = ''
beforeAll(async () => {
  release = await buildScripts(false)
})

const textsOfFaultPoints = ['PLATFORM_FAULT_POINT', 'unknown fault point', 'HAS_FAULT_POINTS']

/** The names of the scripts that can end their process at a fault point. */
function listScriptsWithFaultPoints(into: string): string[] {
  const scripts = readdirSync(into).filter((name) => /\.(mjs|cjs|cjs\.zst)$/.test(name))
  return scripts.filter((name) => {
    const bytes = readFileSync(path.join(into, name))
    const text = name.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes
    return textsOfFaultPoints.some((each) => text.includes(each))
  })
}

test('a release has no fault points, and a build for tests has them in threads too', async () => {
  expect(listScriptsWithFaultPoints(release)).toEqual([])
  expect(listScriptsWithFaultPoints(await buildScripts(true))).toContain('ingest-thread.cjs')
})

test('the library of a source is a script of its own, which needs Node alone', async () => {
  const loadNone = () => Promise.reject(new Error('the script was not used'))
  type Postgres = { readonly postgresDriver: { readonly Client: new (config: object) => { readonly port: number } } }
  const packed = readFileSync(path.join(release, 'postgres-driver.cjs.zst'))
  const { postgresDriver } = await loadDriver<Postgres>(packed, loadNone)
  expect(new postgresDriver.Client({ port: 7 }).port).toBe(7)
  type Mysql = { readonly mysqlDriver: { createConnection(config: object): { destroy(): void } } }
  const { mysqlDriver } = await loadDriver<Mysql>(readFileSync(path.join(release, 'mysql-driver.cjs.zst')), loadNone)
  mysqlDriver.createConnection({ stream: new PassThrough() }).destroy()
  type Rabbitmq = { readonly rabbitmqDriver: { readonly credentials: { plain(user: string, secret: string): object } } }
  const rabbitmq = readFileSync(path.join(release, 'rabbitmq-driver.cjs.zst'))
  const { rabbitmqDriver } = await loadDriver<Rabbitmq>(rabbitmq, loadNone)
  expect(rabbitmqDriver.credentials.plain('ann', 'secret')).toMatchObject({ mechanism: 'PLAIN' })
  type Redis = { readonly redisDriver: { createClient(options: object): { readonly isOpen: boolean } } }
  const { redisDriver } = await loadDriver<Redis>(readFileSync(path.join(release, 'redis-driver.cjs.zst')), loadNone)
  expect(redisDriver.createClient({}).isOpen).toBe(false)
  type Mongo = { readonly mongoDriver: { readonly ObjectId: new (hex: string) => { toHexString(): string } } }
  const mongo = readFileSync(path.join(release, 'mongo-driver.cjs.zst'))
  expect(mongo.length).toBeLessThan(70_000)
  const { mongoDriver } = await loadDriver<Mongo>(mongo, loadNone)
  expect(new mongoDriver.ObjectId('0123456789abcdef01234567').toHexString()).toBe('0123456789abcdef01234567')
  const packedDriver = readFileSync(path.join(release, 'mssql-driver.cjs.zst'))
  expect(packedDriver.length).toBeLessThan(90_000)
  expect(zstdDecompressSync(packedDriver).includes('login.microsoftonline')).toBe(false)
  const tables = new TdsTables()
  tables.tables.set('people', { columns: [{ name: 'id', type_name: 'int', wire: 'int' }], rows: [[7]] })
  const server = await listenAsTds({ batch: (sql) => tables.answer(sql) })
  const config = { host: '127.0.0.1', port: server.port, database: 'shop', username: 'ann', tls: 'off' }
  const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1'], addonDir: '', packedDriver }
  expect(await readRowsBy({ tenant_id: 'acme', conn_type: 'mssql', config }, settings)).toEqual(['{"id":7}'])
  server.close()
  const oracle = readFileSync(path.join(release, 'oracle-driver.cjs.zst'))
  expect(oracle.length).toBeLessThan(120_000)
  const listener = await listenAsOracle(() => refusePacket(12_514))
  const service = { host: '127.0.0.1', port: listener.port, service_name: 'shop', username: 'ann', tls: 'off' }
  const atListener = readRowsBy(
    { tenant_id: 'acme', conn_type: 'oracle', config: service },
    { ...settings, packedDriver: oracle },
  )
  await expect(atListener).rejects.toThrow('the server has no such service')
  // A variable of the environment would print packets, and others would name files and a debugger.
  const client = zstdDecompressSync(oracle).toString()
  expect(client.includes('NODE_ORACLEDB_DEBUG_PACKETS')).toBe(true)
  expect(/\.env\.(NODE_ORACLEDB|TNS_ADMIN|ORA_)/.test(client)).toBe(false)
  listener.close()
  const thread = readFileSync(path.join(release, 'ingest-thread.cjs'), 'utf8')
  expect(thread).toContain('FETCH FORWARD')
  for (const part of [
    'SCRAM-SHA-256',
    'SentLogin7WithNTLMLogin',
    'caching_sha2_password: require',
    'amqp-node.github.io',
    'saslStart',
  ])
    expect(thread).not.toContain(part)
})

test('the library that reads PDF is a script of a thread of its own, which needs Node alone', async () => {
  const packed = readFileSync(path.join(release, 'pdf-thread.cjs.zst'))
  expect(packed.length).toBeLessThan(360_000)
  providePdfScript(packed)
  onTestFinished(() => providePdfScript(undefined))
  const file = memoryRanges(readFileSync('test/support/data/pdf/report.pdf'))
  const { names, rows } = await listRows(readPdf(file, { limits: usualLimits, isSelected: () => true }))
  expect(rows[0]?.[names.indexOf('text')]).toBe('Report of payments')
  const thread = readFileSync(path.join(release, 'ingest-thread.cjs'), 'utf8')
  expect(thread).not.toContain('PasswordException: response')
})
