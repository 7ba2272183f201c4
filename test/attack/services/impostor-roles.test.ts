// Servers at the URL of a role that are not this role: no request, and so no token, reaches them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { siteFolder } from '../../../daemon/boot/storage/site-folder.ts'
import { type CertifiedRoles, certifyRoles } from '../../support/keys/certified-roles.ts'
import { createAuthority, issueCertificate, type SiteAuthority } from '../../support/keys/site-certificates.ts'

const dir = mkdtempSync(path.join(tmpdir(), 'impostors-'))
const folder = siteFolder(path.join(dir, 'alpha'))
let certified: CertifiedRoles
let hosts: SiteAuthority
beforeAll(async () => {
  certified = await certifyRoles(dir, folder, ['site', 'consensus', 'ingest'])
  hosts = await createAuthority(dir, 'hosts')
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

type Answer = { readonly status?: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> }

/** Returns its URL and the requests that reached it, with the names of the clients. */
async function startServer(pem: string, { status = 200, body = '{}', headers = {} }: Answer = {}) {
  const seen: (string | undefined)[] = []
  const tls = { cert: pem, key: pem, ca: certified.authority.certificate, requestCert: true, rejectUnauthorized: false }
  const server = createServer(tls, (request, response) => {
    const socket = request.socket as typeof request.socket & { getPeerCertificate(): { subjectaltname?: string } }
    seen.push(socket.getPeerCertificate().subjectaltname)
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { seen, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const sent = { method: 'GET', path: '/x', headers: { authorization: 'Bearer secret' }, timeout_ms: 5_000 }

/** The request of ingest for site, with the reasons in the log. */
function openClient(ca_file?: string) {
  type LogFields = Readonly<Record<string, unknown>>
  const logged: LogFields[] = []
  const note = (_event: string, fields: LogFields = {}) => void logged.push(fields)
  const log = { debug: note, info: note, warn: note, error: note }
  const remote = certified.connect({ log, ...(ca_file === undefined ? {} : { ca_file }) })
  onTestFinished(() => remote.close())
  return { logged, ask: (url: string) => remote.request('ingest', 'site', url, sent) }
}

const certificate = async (name: string, more: Parameters<typeof issueCertificate>[3], by = certified.authority) =>
  (await issueCertificate(dir, by, name, more)).pem

describe('a server that shows', () => {
  const impostors: Readonly<Record<string, [pem: () => Promise<string>, reason: RegExp]>> = {
    'the certificate of another role': [
      () => certificate('c', { site: 'alpha', role: 'consensus' }),
      /that of consensus/,
    ],
    'that of the role at another site': [() => certificate('o', { site: 'bravo', role: 'site' }), /other_site/],
    'that of the site itself': [() => certificate('s', { site: 'alpha' }), /names_no_role/],
    'one that has ended': [
      () => certificate('e', { site: 'alpha', role: 'site', not_after: Date.now() - 1 }),
      /expired/,
    ],
    'one of another authority': [() => certificate('f', { site: 'alpha', role: 'site' }, hosts), /certificate/],
  }

  test.each(Object.keys(impostors))('%s gets nothing', async (name) => {
    const [issue, reason] = impostors[name] ?? expect.unreachable()
    const { url, seen } = await startServer(await issue())
    const { ask, logged } = openClient()
    await expect(ask(url)).rejects.toMatchObject({ code: 'unavailable', row: { status: 503 } })
    expect(seen).toEqual([])
    expect(logged).toMatchObject([{ role: 'ingest', target: 'site', reason: expect.stringMatching(reason) }])
  })

  test('the certificate of this very role gets the request, over a connection that is kept', async () => {
    const { url, seen } = await startServer(await certified.issue('site'))
    const { ask } = openClient()
    expect([await ask(url), await ask(url)]).toMatchObject([{ status: 200 }, { status: 200 }])
    expect(seen).toEqual(Array(2).fill(expect.stringContaining('urn:platform:site:alpha:role:ingest')))
  })

  test('one for the host by the authorities of the setting gets it, one for another host does not', async () => {
    const named = await startServer(await certificate('host', { site: 'web' }, hosts))
    const { ask, logged } = openClient(hosts.file)
    expect(await ask(named.url)).toMatchObject({ status: 200 })
    await expect(ask(named.url.replace('127.0.0.1', '127.0.0.2'))).rejects.toMatchObject({ code: 'unavailable' })
    await expect(openClient().ask(named.url)).rejects.toMatchObject({ code: 'unavailable' })
    expect(named.seen).toHaveLength(1)
    expect(JSON.stringify(logged)).not.toContain('secret')
  })
})

test('an answer has a largest size', async () => {
  const { url } = await startServer(await certified.issue('site'), { body: `"${'x'.repeat(17 * 1_048_576)}"` })
  await expect(openClient().ask(url)).rejects.toMatchObject({ code: 'unavailable' })
})

test('a redirect is not followed', async () => {
  const other = await startServer(await certified.issue('site'))
  const { url } = await startServer(await certified.issue('site'), { status: 307, headers: { location: other.url } })
  expect(await openClient().ask(url)).toMatchObject({ status: 307 })
  expect(other.seen).toEqual([])
})

test('another certificate in the file is shown by the connections that follow, and half of one is not', async () => {
  const { url, seen } = await startServer(await certified.issue('site'))
  const { ask, logged } = openClient()
  await ask(url)
  const file = path.join(folder.identity, 'roles', 'ingest', 'certificates', 'role.pem')
  const whole = await certified.issue('ingest')
  writeFileSync(file, whole.slice(0, whole.length / 3))
  await expect.poll(async () => (await ask(url)) && logged.length, { timeout: 10_000, interval: 100 }).toBe(1)
  writeFileSync(file, whole)
  await expect.poll(async () => (await ask(url)) && logged.length, { timeout: 10_000, interval: 100 }).toBe(2)
  expect(logged).toMatchObject([{ fault: expect.anything() }, { listener: 'ingest:calls' }])
  expect(new Set(seen).size).toBe(1)
})
