// Registrations of connections at a server in the place of Airflow, which answers when the test lets it.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { create } from '../../../daemon/roles/ingest/connection/create.ts'
import { remove } from '../../../daemon/roles/ingest/connection/remove.ts'
import { update } from '../../../daemon/roles/ingest/connection/update.ts'
import { setUpIngestSite } from './ingest-site.ts'

/** What the server has, as the text of each request that it took last. */
const kept = new Map<string, string>()
/** Holds a request whose body has the text, before the server takes it. */
let held: { readonly text: string; readonly arrive: () => void; readonly released: Promise<void> } | undefined

const airflow = createServer(async (request, response) => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const body = Buffer.concat(pieces).toString()
  if (held && body.includes(held.text)) {
    held.arrive()
    await held.released
  }
  const name = request.method === 'POST' ? JSON.parse(body).connection_id : (request.url ?? '').split('/').at(-1)
  const isKnown = request.method === 'POST' || kept.has(name)
  if (request.method === 'DELETE') kept.delete(name)
  else if (isKnown) kept.set(name, body)
  response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' }).end('{}')
})
const base_url = await new Promise<string>((resolve) => {
  airflow.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(airflow.address() as AddressInfo).port}`))
})
const folder = mkdtempSync(path.join(tmpdir(), 'dags-'))
const site = setUpIngestSite(
  {
    ...{ workflow_base_url: base_url, workflow_api_version: 'v2' },
    ...{ workflow_dag_folder: folder, worker_folder: folder },
  },
  { profile: { identity: { audiences: { airflow: ['ingest'] } } } },
)
beforeEach(() => {
  held = undefined
})
afterAll(() => {
  airflow.close().closeAllConnections()
  rmSync(folder, { recursive: true, force: true })
})

function hold(text: string) {
  const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  held = { text, arrive: arrived.resolve, released: released.promise }
  return { arrived: arrived.promise, release: released.resolve }
}

const config = (account: string) => ({ account, username: 'reader', database: 'sales' })
const secret = (password: string) => JSON.stringify({ password })

async function createAt(account: string) {
  const admin = await site().as({ roles: ['admin'] })
  const given = { name: account, conn_type: 'snowflake', config: config(account), secret: secret('first') }
  const { uid } = await admin.ok(create, given)
  expect(kept.get(`platform_${uid}`)).toContain('first')
  return { admin, uid }
}

test('another server clears the secret at the scheduler too', async () => {
  const { admin, uid } = await createAt('one')
  await admin.ok(update, { uid, config: config('other') })
  expect(kept.get(`platform_${uid}`)).toContain('other')
  expect(kept.get(`platform_${uid}`)).not.toContain('first')
})

test('of two changes the newer one is registered last, whichever arrives last', async () => {
  const { admin, uid } = await createAt('two')
  const { arrived, release } = hold('second')
  const late = admin.ok(update, { uid, config: config('two'), secret: secret('second') })
  await arrived
  await admin.ok(update, { uid, config: config('two'), secret: secret('third') })
  release()
  expect(await late).toMatchObject({ registration: { ok: true } })
  expect(kept.get(`platform_${uid}`)).toContain('third')
})

test('a change that arrives after the deletion leaves no secret behind', async () => {
  const { admin, uid } = await createAt('three')
  const { arrived, release } = hold('second')
  const late = admin.ok(update, { uid, config: config('three'), secret: secret('second') })
  await arrived
  await admin.ok(remove, { uid })
  release()
  expect(await late).toMatchObject({ registration: { ok: false, detail: 'the connection was deleted meanwhile' } })
  expect(kept.has(`platform_${uid}`)).toBe(false)
})
