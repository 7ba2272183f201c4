// A site over TLS whose people show certificates: real handshakes, keep-alive connections, both ways of asking for one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import * as https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { examineSite } from '../../daemon/offline/doctor/examine-site.ts'
import { type IssuedCertificate, type OpensslAuthority, opensslAuthority } from '../support/keys/openssl-authority.ts'
import { isOnPath, requires } from '../support/runner/requires.ts'
import { type SingleClusterSite, startSingleClusterSite } from '../support/site/single-cluster-site.ts'

const test = requires('openssl')
const buildUriExtensions = (name: string) => [
  'basicConstraints=CA:FALSE',
  'extendedKeyUsage=clientAuth',
  `subjectAltName=URI:urn:example:${name}`,
]

const dir = mkdtempSync(join(tmpdir(), 'platform-tls-'))
const lists = join(dir, 'lists.pem')
let root: OpensslAuthority
let site: SingleClusterSite
let ada: IssuedCertificate
let eve: IssuedCertificate
let nobody: IssuedCertificate
let stranger: IssuedCertificate

beforeAll(async () => {
  if (!isOnPath('openssl')) return
  root = opensslAuthority(dir, 'root', Date.now())
  ada = root.issue({ subject: '/CN=Ada', extensions: buildUriExtensions('ada') })
  eve = root.issue({ subject: '/CN=Eve', extensions: buildUriExtensions('eve') })
  nobody = root.issue({ subject: '/CN=Nobody', extensions: buildUriExtensions('nobody') })
  stranger = opensslAuthority(dir, 'other', Date.now()).issue({
    subject: '/CN=Ada',
    extensions: buildUriExtensions('ada'),
  })
  const server = root.issue({
    subject: '/CN=localhost',
    extensions: ['extendedKeyUsage=serverAuth', 'subjectAltName=DNS:localhost'],
  })
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text, { mode: 0o600 })
    return join(dir, name)
  }
  const tls = { tls_cert_file: file('server.pem', server.cert), tls_key_file: file('server.key', server.key) }
  writeFileSync(lists, root.issueRevocationList())
  const row = (name: string) => ({ uri: `urn:example:${name}`, subject: name, tenant_id: 'alpha', roles: ['analyst'] })
  site = await startSingleClusterSite({
    consensus: { ...tls, tls_client_auth: 'request' },
    site: { ...tls, tls_client_auth: 'require' },
    x509: { ca_file: file('ca.pem', root.cert), crl_file: lists, subjects: [row('ada'), row('eve')] },
  })
}, 60_000)
afterAll(async () => {
  await site?.close()
  rmSync(dir, { recursive: true, force: true })
})

/** `isReused`: on a connection that was there; `isResumed`: by a handshake that took up an earlier one. */
type TlsResponse = { readonly status: number; readonly isReused: boolean; readonly isResumed: boolean }

/** Without `agent` on its own connection. Rejects when the connection fails. */
function requestRole(
  role: string,
  shown?: IssuedCertificate,
  more: { token?: string; agent?: https.Agent; headers?: object } = {},
) {
  const { token, agent = false, headers = {} } = more
  const path = role === 'consensus' ? '/api/v2/consensus/session' : '/api/v2/site/peer'
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const options = {
    host: '127.0.0.1',
    servername: 'localhost',
    port: site.port(role),
    path,
    agent,
    ca: root.cert,
    ...(shown ? { cert: shown.cert, key: shown.key } : {}),
    headers: { ...authorization, ...headers },
  }
  return new Promise<TlsResponse>((resolve, reject) => {
    const request = https.get(options, (answer) => {
      const isResumed = (answer.socket as TLSSocket).isSessionReused()
      answer.resume().once('end', () => {
        resolve({ status: answer.statusCode ?? 0, isReused: request.reusedSocket, isResumed })
      })
    })
    request.on('error', reject)
  })
}
const requestStatus = async (...args: Parameters<typeof requestRole>) => (await requestRole(...args)).status

describe('a listener that requests a certificate', () => {
  test('it is enough, and so is a token; with neither it is 401', async () => {
    expect(await requestStatus('consensus', ada)).toBe(200)
    expect(await requestStatus('consensus', undefined, { token: await site.token({ roles: ['analyst'] }) })).toBe(200)
    expect(await requestStatus('consensus')).toBe(401)
  })

  test('it must be of somebody here, and of the site’s authorities', async () => {
    const token = await site.token({ roles: ['analyst'] })
    for (const shown of [nobody, stranger]) {
      expect(await requestStatus('consensus', shown)).toBe(401)
      expect(await requestStatus('consensus', shown, { token })).toBe(401)
    }
    expect(site.logged.join('\n')).toMatch(/identity\.certificate\.refused.*"reason":"nobody".*CN=Nobody/)
  })

  test('with a token beside it, both are of one and the same', async () => {
    const of = (sub: string, more = {}) => site.token({ sub, roles: ['analyst'], ...more })
    expect(await requestStatus('consensus', ada, { token: await of('ada') })).toBe(200)
    expect(await requestStatus('consensus', ada, { token: await of('bob', { act: { sub: 'ada' } }) })).toBe(200)
    expect(await requestStatus('consensus', ada, { token: await of('bob') })).toBe(401)
    expect(await requestStatus('consensus', ada, { token: await of('ada', { tenant_id: 'bravo' }) })).toBe(401)
    expect(await requestStatus('consensus', ada, { token: 'nonsense' })).toBe(401)
  })

  test('no header stands in for it', async () => {
    const pem = encodeURIComponent(ada.cert)
    const headers = {
      'x-forwarded-client-cert': `Cert="${pem}"`,
      'x-ssl-client-cert': pem,
      'client-cert': `:${ada.der.toString('base64')}:`,
      'ssl-client-verify': 'SUCCESS',
    }
    expect(await requestStatus('consensus', undefined, { headers })).toBe(401)
  })

  test('a resumed session is the same client’s', async () => {
    const agent = new https.Agent({ maxCachedSessions: 10, keepAlive: false })
    expect(await requestRole('consensus', ada, { agent })).toMatchObject({ status: 200, isResumed: false })
    expect(await requestRole('consensus', ada, { agent })).toMatchObject({ status: 200, isResumed: true })
    expect(await requestStatus('consensus', undefined, { agent })).toBe(401)
    agent.destroy()
  })
})

test('where one is required, nobody comes in without', async () => {
  await expect(requestRole('site')).rejects.toThrow()
  await expect(requestRole('site', stranger)).rejects.toThrow()
  const token = await site.token({ roles: ['operator'] })
  await expect(requestRole('site', undefined, { token })).rejects.toThrow()
  expect(await requestStatus('site', ada)).toBe(403)
  expect(await requestStatus('site', ada, { token: await site.token({ sub: 'ada', roles: ['operator'] }) })).toBe(200)
})

test('the doctor sees authorities and lists', async () => {
  const wrong = async (days: number) => {
    const findings = await examineSite(site.folder, {}, Date.now() + days * 86_400_000, () => undefined)
    return findings.filter(({ check, state }) => check === 'x509' && state !== 'ok').map(({ detail }) => detail)
  }
  expect(await wrong(0)).toEqual([])
  expect(await wrong(8)).toEqual([expect.stringMatching(/^overdue revocation list of CN=root,O=Example/)])
  expect(await wrong(366)).toEqual([
    expect.stringContaining('the authority CN=root,O=Example ended'),
    expect.anything(),
  ])
})

test('a revoked certificate ends on the connection that it came on, and a list that is gone answers 503', async () => {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
  expect((await requestRole('consensus', eve, { agent })).status).toBe(200)
  root.revoke(eve)
  writeFileSync(lists, root.issueRevocationList())
  await expect.poll(() => requestStatus('consensus', eve, { agent }), { timeout: 30_000 }).toBe(401)
  expect((await requestRole('consensus', eve, { agent })).isReused).toBe(true)
  expect(await requestStatus('consensus', ada)).toBe(200)
  rmSync(lists)
  await expect.poll(() => requestStatus('consensus', ada), { timeout: 30_000 }).toBe(503)
  expect(await requestStatus('consensus', undefined, { token: await site.token({ roles: ['analyst'] }) })).toBe(200)
  agent.destroy()
})
