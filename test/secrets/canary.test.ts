// A secret in every field that a role declares, looked for wherever the site shows or stores something.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { redactFields } from '../../adapters/host/log/redact.ts'
import { keyFolderDataKeys } from '../../adapters/keys/jose/data-keys.ts'
import { createWrappingKey, openWrappingKey, readWrappingKeys } from '../../adapters/keys/jose/wrapping-keys.ts'
import { sqliteAudit } from '../../adapters/store/sqlite/audit/audit.ts'
import { sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import { sqliteStore } from '../../adapters/store/sqlite/store.ts'
import { roleDatabaseFile, type SiteFolder, siteFolder } from '../../daemon/boot/storage/site-folder.ts'
import { everyOperation, everyRole } from '../../daemon/every-role.ts'
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import type { DelegatingCredential, Delegation } from '../../daemon/kernel/identity/delegation.ts'
import { pathParameters } from '../../daemon/kernel/operation/operation.ts'
import { operationsOf } from '../../daemon/kernel/role/built-in-operations.ts'
import { listSecretFields } from '../../daemon/kernel/secret/secret-fields.ts'
import { SecretKeyring } from '../../daemon/kernel/secret/secret-keyring.ts'
import { dataKeys, listDataKeys, openStoredKey } from '../../daemon/kernel/secret/stored-data-key.ts'
import { resolveProfile } from '../../daemon/offline/site/site-profile.ts'
import { restoreBackup } from '../../daemon/offline/store/store-restore.ts'
import { create as createConnection } from '../../daemon/roles/ingest/connection/create.ts'
import { get as getConnection } from '../../daemon/roles/ingest/connection/get.ts'
import { list as listConnections } from '../../daemon/roles/ingest/connection/list.ts'
import { connections } from '../../daemon/roles/ingest/connection/model.ts'
import { test as testConnection } from '../../daemon/roles/ingest/connection/test.ts'
import { update as updateConnection } from '../../daemon/roles/ingest/connection/update.ts'
import { list as listMatches } from '../../daemon/roles/resolution/entity-match/list.ts'
import { agree } from '../../daemon/roles/resolution/exchange/agree.ts'
import { get } from '../../daemon/roles/resolution/exchange/get.ts'
import { exchanges } from '../../daemon/roles/resolution/exchange/model.ts'
import { receive } from '../../daemon/roles/resolution/exchange/receive.ts'
import { extract } from '../../daemon/roles/resolution/fusion/extract.ts'
import { fusionRuns } from '../../daemon/roles/resolution/fusion-run/model.ts'
import { start } from '../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../daemon/roles/resolution/fusion-run/status.ts'
import { create } from '../../daemon/roles/resolution/lens/create.ts'
import { createPeerSite, type PeerSite, sharedClassification } from '../roles/consensus/peer-site.ts'
import { buildAgreement, buildProposal } from '../roles/resolution/exchange-fixture.ts'
import { buildPeople, buildPersonLens } from '../roles/resolution/resolution-site.ts'
import { createScratchFolder, runCommand } from '../support/command/run-command.ts'
import { grantOf, sampleWork } from '../support/delegation/delegation-answers.ts'
import { sendHttpRequest } from '../support/http/send-http-request.ts'
import { startTestSite, type TestSite, waitUntil } from '../support/site/test-site.ts'

const inputCanary = 'canary-7b1e9c4ad0'
const connectionCanary = 'canary-52f06be1c9'
/** No test of it leaves the machine: the rule of outbound addresses refuses it. */
const searchServer = { conn_type: 'elasticsearch', config: { url: 'http://127.0.0.1:9' } } as const

/** By `role.collection.field`: stores a secret there, and returns its text. */
const storedCanaries: Readonly<Record<string, () => Promise<string>>> = {
  'resolution.fusion_exchange.secret': async () => {
    const agreement = buildAgreement()
    const carrier = await world.as({ subject: 'role:site', roles: ['service'], tenant: '*' })
    expect(await carrier.refusal(receive, await bravo.message('resolution', buildProposal(agreement)))).toBe(200)
    await (await world.as()).ok(agree, { uid: agreement.exchange_id, data: buildPeople(0, 5) })
    const { secret, tenant_id } = await waitUntil(async () => {
      const value = (await world.store('resolution').get(exchanges, agreement.exchange_id))?.value
      return value?.step === 1 && value.job_due_ts === undefined && value
    })
    if (typeof secret !== 'object') throw new Error('the exchange has no sealed secret')
    await (await world.as()).ok(get, { uid: agreement.exchange_id })
    const document = { id: agreement.exchange_id, tenant_id }
    return await openKeyring(world).open(resolutionKeys(world.folder.keys), exchanges, document, 'secret', secret)
  },
  'ingest.datapipelineconnection.secret': async () => {
    const ann = await world.as({ roles: ['admin'] })
    const password = `${connectionCanary}-first`
    const body = { ...searchServer, name: 'search', secret: JSON.stringify({ password }) }
    const { uid, has_secret } = await ann.ok(createConnection, body)
    expect(has_secret).toBe(true)
    // Sealed again beside other fields, opened for a test, and shown.
    const again = JSON.stringify({ password: connectionCanary })
    shown.push(JSON.stringify(await ann.ok(updateConnection, { uid, config: searchServer.config, secret: again })))
    shown.push(JSON.stringify(await ann.ok(testConnection, { uid })))
    shown.push(JSON.stringify(await ann.ok(getConnection, { uid })))
    return connectionCanary
  },
}

/** By `address.field`: the answer to a request with the canary there, in its text. */
const inputCanaries: Readonly<Record<string, () => Promise<string>>> = {
  'site.token.issue.client_secret': () => requestToken({ client_secret: inputCanary }),
  'site.token.issue.subject_token': () => requestToken({ client_secret: 'x', subject_token: inputCanary }),
  'site.token.issue.actor_token': () => requestToken({ client_secret: 'x', actor_token: inputCanary }),
  'site.delegation.grant.subject_token': () => delegate(tokenCanary, (acting) => acting.store(sampleWork)),
  'site.delegation.grant.grant': () => delegate(grantCanary, (acting) => acting.store(sampleWork)),
  'site.delegation.principal.subject_token': () => delegate(tokenCanary, (acting) => acting.principal()),
  'site.delegation.principal.grant': () => delegate(grantCanary, (acting) => acting.principal()),
  'site.delegation.token.subject_token': () => delegate(tokenCanary, (acting) => acting.token({ role: 'consensus' })),
  'site.delegation.token.grant': () => delegate(grantCanary, (acting) => acting.token({ role: 'consensus' })),
  'ingest.connection.create.secret': () => sendConnection('POST', { name: 'faulty', conn_type: 'elasticsearch' }),
  'ingest.connection.update.secret': () => sendConnection('PATCH', {}),
}

/** A connection whose secret has the canary as a field that its template has not, so that the answer is a fault. */
async function sendConnection(method: 'POST' | 'PATCH', fields: object): Promise<string> {
  const token = await world.token({ roles: ['admin'] })
  const { items } = await (await world.as({ roles: ['admin'] })).ok(listConnections, {})
  const path = `/userspace/connection${method === 'POST' ? '' : `/${items[0]?.uid}`}`
  const body = { ...fields, config: searchServer.config, secret: JSON.stringify({ [inputCanary]: inputCanary }) }
  const { status, text } = await world.call('ingest', method, path, body, { token })
  expect(status).toBe(422)
  return text
}

async function requestToken(form: Readonly<Record<string, string>>): Promise<string> {
  const text = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'gateway', ...form }).toString()
  const answer = await fetch(`${world.url('site')}/oauth2/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: text,
  })
  return await answer.text()
}

const tokenCanary = { subject_token: inputCanary }
const grantCanary = grantOf({ grant: inputCanary })

async function delegate(
  credential: DelegatingCredential,
  request: (acting: Delegation) => Promise<object>,
): Promise<string> {
  const answer = await request(world.delegation('resolution', credential))
  expect(isRefusal(answer)).toBe(true)
  return JSON.stringify(answer)
}

/**
 * Stores work that keeps a grant, shows it, and returns the grants: of the exchange above, of a run between two phases, and of
 * another run for the matches that it puts to role consensus.
 */
async function storeGrants(): Promise<string[]> {
  const ann = await world.as()
  const input = { lens_id: 'people', node_data: { east: buildPeople(0, 20), west: buildPeople(10, 30) } }
  const idle = (await ann.ok(extract, input)).run_id
  const over = (await ann.ok(start, { ...input, consensus: { from: 0.5, to: 1, policy: { m: 1, n: 1 } } })).run_id
  await waitUntil(async () => (await ann.ok(status, { run_id: idle })).state === 'extracted')
  await waitUntil(async () => (await ann.ok(status, { run_id: over })).state === 'completed')
  const store = world.store('resolution')
  const works = [
    ...(await store.list(exchanges, { limit: 10 })).docs.map(({ value }) => value.job.principal),
    ...(await store.list(fusionRuns, { limit: 10 })).docs.flatMap(({ value }) => [
      value.job.principal,
      value.consult_principal,
    ]),
  ]
  for (const run_id of [idle, over]) shown.push(JSON.stringify(await ann.ok(status, { run_id })))
  shown.push(JSON.stringify(await ann.ok(listMatches, {})))
  return [...new Set(works.flatMap((principal) => principal?.grant ?? []))]
}

/** What nobody can use a grant without. */
function signatureOf(grant: string): string {
  return grant.split('.')[2] ?? ''
}

const scratch = createScratchFolder('canary')
const shown: string[] = []
let world: TestSite
let bravo: PeerSite
let site: string
let secrets: string[] = []
/** Signatures of grants. They are stored as they are: the database of their role, and its backup, have them. */
let grants: string[] = []
/** Keys that protect them, by a name. */
const keys = new Map<string, Uint8Array>()

const resolutionKeys = (dir: string) =>
  keyFolderDataKeys({ dir, site: 'alpha', passphrase: () => undefined })('resolution')

function openKeyring(of: TestSite): SecretKeyring {
  return new SecretKeyring({ store: of.store('resolution'), tenant_id: of.tenant, now: of.clock.now, random: () => '' })
}

beforeAll(async () => {
  bravo = await createPeerSite('bravo', 'tenant-b')
  const profile = {
    platform: { roles: ['site', 'resolution', 'consensus', 'ingest'] },
    ingest: { port: 0 },
    resolution: { peer_exchanges_per_day: 1_000 },
  }
  const onEvent = (event: string, fields: object) => void shown.push(`log ${event} ${JSON.stringify(fields)}`)
  world = await startTestSite({ profile, peers: [bravo.pinned], onEvent })
  site = path.dirname(world.folder.profile)
  await (await world.as()).ok(create, { body: buildPersonLens('1.0.0'), classification: sharedClassification })
  secrets = [inputCanary]
  for (const store of Object.values(storedCanaries)) secrets.push(await store())
  grants = (await storeGrants()).map(signatureOf)
  for (const send of Object.values(inputCanaries)) shown.push(await send())
  for (const stored of await listDataKeys(world.store('resolution'), exchanges.name))
    keys.set(stored.id, (await openStoredKey(resolutionKeys(world.folder.keys), stored)).key)
  const ingestKeys = keyFolderDataKeys({ dir: world.folder.keys, site: 'alpha', passphrase: () => undefined })('ingest')
  for (const stored of await listDataKeys(world.store('ingest'), connections.name))
    keys.set(stored.id, (await openStoredKey(ingestKeys, stored)).key)
  for (const stored of readWrappingKeys(world.folder.keys))
    keys.set(stored.kid, await openWrappingKey(stored, () => undefined))
})
afterAll(async () => {
  await world?.end()
  bravo?.remove()
  scratch.remove()
})

/** Each spelling in which a text or a key could appear. */
function spellings(secret: string | Uint8Array): Buffer[] {
  const bytes = Buffer.from(secret)
  const decoded = typeof secret === 'string' && /^[0-9a-f]{64}$/.test(secret) ? [Buffer.from(secret, 'hex')] : []
  return [bytes, ...decoded].flatMap((each) => [
    each,
    Buffer.from(each.toString('hex')),
    // Without the last characters, which depend on what follows.
    Buffer.from(each.toString('base64').replace(/=+$/, '').slice(0, -1)),
    Buffer.from(each.toString('base64url').slice(0, -1)),
  ])
}

function expectNoSecret(
  where: string,
  content: string | Buffer,
  named = [...secrets, ...grants, ...keys.values()],
): void {
  const bytes = Buffer.from(content)
  for (const [index, secret] of named.entries())
    for (const spelling of spellings(secret))
      expect(bytes.includes(spelling), `${where} shows secret ${index}`).toBe(false)
}

function listFiles(dir: string): string[] {
  return fs
    .readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
}

test('the tables hold every secret field that a role declares', () => {
  const stored = everyRole.flatMap(({ name, collections }) =>
    collections.flatMap((each) => listSecretFields(each).map((field) => `${name}.${each.name}.${field}`)),
  )
  const inputs = everyOperation.flatMap(({ address, operation }) =>
    Object.entries(operation.input.shape as Record<string, { meta(): unknown; unwrap?(): { meta(): unknown } }>)
      .filter(([, field]) =>
        [field, field.unwrap?.()].some((each) => (each?.meta() as { writeOnly?: true })?.writeOnly),
      )
      .map(([field]) => `${address}.${field}`),
  )
  expect(Object.keys(storedCanaries).sort(), 'add a canary for each').toEqual(stored.sort())
  expect(Object.keys(inputCanaries).sort(), 'add a canary for each').toEqual(inputs.sort())
})

test('the search finds a secret in each spelling', () => {
  const [, secret = ''] = secrets
  expect(secret).toMatch(/^[0-9a-f]{64}$/)
  for (const text of [secret, Buffer.from(secret, 'hex').toString('base64'), Buffer.from(secret, 'hex')])
    expect(() => expectNoSecret('here', Buffer.concat([Buffer.from('x'), Buffer.from(text)]))).toThrow()
})

test('the search knows a grant of each kind of stored work', () => {
  expect(grants.length).toBe(3)
  for (const grant of grants) expect(grant.length).toBeGreaterThan(40)
})

test('no log event and no answer to the requests with a secret has it', () => {
  expect(shown.length).toBeGreaterThan(10)
  for (const line of shown) expectNoSecret(line.slice(0, 60), line)
})

test('no answer of an operation that reads has it: lists, metrics, OpenAPI, audit records', async () => {
  const token = await world.token({ roles: ['admin'] })
  let answered = 0
  for (const role of everyRole.filter(({ name }) => ['site', 'resolution', 'ingest'].includes(name))) {
    for (const { address, operation } of operationsOf(role)) {
      const { method, path, streams } = operation
      if (method !== 'GET' || path === undefined || streams || pathParameters(path).length > 0) continue
      const { status, text } = await sendHttpRequest(world.url(role.name), 'GET', path, undefined, { token })
      if (status === 200) answered += 1
      expectNoSecret(address, text)
    }
  }
  expect(answered).toBeGreaterThan(10)
})

test('no file of the site has it, and only the key folder has the wrapping key', () => {
  const files = listFiles(site)
  expect(files.filter((file) => file.endsWith('.db')).length).toBeGreaterThan(1)
  const keyFiles = path.join(world.folder.keys, 'secrets')
  for (const file of files.filter((each) => !each.startsWith(keyFiles)))
    expectNoSecret(file, fs.readFileSync(file), namedOutside(file))
})

const isOfResolution = (file: string) => path.basename(file).startsWith('resolution.db')

function namedOutside(file: string): (string | Uint8Array)[] {
  return [...secrets, ...keys.values(), ...(isOfResolution(file) ? [] : grants)]
}

test('no export and no backup has it, and a restore elsewhere with the keys of the site opens it', async () => {
  await world.stop()
  const backup = path.join(scratch.dir, 'backup')
  for (const words of [
    ['audit', 'export'],
    ['audit', 'export', '--format', 'cef'],
    ['store', 'backup', backup],
    ['profile', 'explain'],
    ['keys', 'list'],
  ]) {
    const { exit, stdout, stderr } = await runCommand([...words, '--site', site])
    expect(exit, stderr).toBe(0)
    expectNoSecret(words.join(' '), `${stdout}${stderr}`)
  }
  for (const file of listFiles(backup)) expectNoSecret(file, fs.readFileSync(file), namedOutside(file))

  const machine = path.join(scratch.dir, 'machine', 'alpha')
  fs.cpSync(site, machine, { recursive: true, filter: (from) => !/\/(data|run)\/./.test(from) })
  const elsewhere = siteFolder(machine)
  await restoreBackup(elsewhere, {}, { from: backup, now: world.clock.now(), progress: () => undefined })
  expect(await readRestoredSecret(elsewhere, elsewhere.keys)).toBe(secrets[1])

  const foreignKeys = path.join(scratch.dir, 'foreign')
  await createWrappingKey(foreignKeys, { now: world.clock.now() })
  await expect(readRestoredSecret(elsewhere, foreignKeys)).rejects.toMatchObject({ code: 'internal' })
})

/** The secret of the exchange in the restored database, by the wrapping keys of a key folder. */
async function readRestoredSecret(folder: SiteFolder, keyFolder: string): Promise<string> {
  const addonDir = path.join(scratch.dir, 'addon')
  fs.mkdirSync(addonDir, { recursive: true, mode: 0o700 })
  const file = sqliteFile({ file: roleDatabaseFile(folder, 'resolution'), addonDir })
  const store = sqliteStore(file, {
    audit: sqliteAudit(file, 'resolution@alpha'),
    collections: [exchanges, dataKeys],
  })
  try {
    const { docs } = await store.list(exchanges, { limit: 10 })
    const [{ id, value } = { id: '', value: undefined }] = docs
    if (typeof value?.secret !== 'object') throw new Error('no sealed secret was restored')
    const keyring = new SecretKeyring({ store, tenant_id: 'tenant-a', now: Date.now, random: () => '' })
    const document = { id, tenant_id: value.tenant_id }
    return await keyring.open(resolutionKeys(keyFolder), exchanges, document, 'secret', value.secret)
  } finally {
    await store.close()
    await file.close()
  }
}

test('no command that explains or checks settings shows one of a secret setting, valid or not', async () => {
  const names = resolveProfile(world.folder, {}).explained.flatMap(({ secret, env }) => (secret ? env : []))
  expect(names.length).toBeGreaterThan(4)
  for (const value of [inputCanary, `${inputCanary}\n`.repeat(400)]) {
    const env = Object.fromEntries(names.map((name) => [name, value]))
    for (const words of [['explain'], ['explain', '--json'], ['validate']]) {
      const { stdout, stderr } = await runCommand(['profile', ...words, '--site', site], { env })
      expectNoSecret(words.join(' '), `${stdout}${stderr}`, [inputCanary])
    }
  }
})

test('the log adapter redacts sealed and open secrets by their names as well', () => {
  const printed = JSON.stringify(
    redactFields({ secret: inputCanary, client_secret: inputCanary, nested: { password: 1 } }),
  )
  expectNoSecret('redacted', printed)
})
