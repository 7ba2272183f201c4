// TLS of the edge: protocols, redirects, certificates of clients and of host names, and their change without a restart.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import * as https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { simulatedClock } from '../../support/clock/simulated-clock.ts'
import { http2Client } from '../../support/forward/forward-client.ts'
import { sendExactRequest } from '../../support/http/send-exact-request.ts'
import { createAuthority, issueCertificate, type SiteAuthority } from '../../support/keys/site-certificates.ts'
import {
  listFieldValues,
  type RecordingUpstream,
  respondOk,
  startRecordingUpstream,
} from '../../support/proxy/recording-upstream.ts'
import { type EdgeSite, startEdgeSite } from './edge-site.ts'

let folder: string
let authority: SiteAuthority
let backend: RecordingUpstream
let edge: EdgeSite
const secured: https.Server[] = []
const file = (name: string) => path.join(folder, name)

async function issueTo(name: string): Promise<string> {
  const { pem } = await issueCertificate(folder, authority, name)
  writeFileSync(file(`${name}.pem`), pem, { mode: 0o600 })
  return pem
}

/** A service with TLS, whose certificate the authority has issued. */
async function startSecured(issuer: SiteAuthority, name: string): Promise<string> {
  const { pem } = await issueCertificate(folder, issuer, name)
  const server = https.createServer({ cert: pem, key: pem }, (_, response) => response.end('secured'))
  secured.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `https://localhost:${(server.address() as AddressInfo).port}`
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'edge-tls-'))
  authority = await createAuthority(folder, 'house')
  writeFileSync(file('ca.pem'), authority.certificate)
  await issueTo('first')
  await issueTo('other')
  backend = await startRecordingUpstream(respondOk)
  edge = await startEdgeSite({
    backends: {
      'consensus-service': [`http://127.0.0.1:${backend.port}`],
      'hub-service': [await startSecured(authority, 'hub')],
      'site-service': [await startSecured(await createAuthority(folder, 'imitator'), 'imitation')],
    },
    edge: {
      ...{ tls_cert_file: file('first.pem'), tls_key_file: file('first.pem'), tls_client_auth: 'request' },
      certificates: [{ hosts: ['other.example'], cert_file: file('other.pem'), key_file: file('other.pem') }],
      ...{ tls_reload_s: 1, https_port: 8_443, backend_ca_file: file('ca.pem') },
    },
    site: { x509: { ca_file: file('ca.pem') } },
    // The certificates are of today.
    clock: simulatedClock(Date.now()),
  })
})
afterAll(async () => {
  await edge?.site.end()
  await backend?.close()
  for (const server of secured) server.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  backend.requests.length = 0
})

const target = '/api/v2/consensus/session'

/** One request of a client; resolves with its answer and the certificate that it saw. */
function ask(options: ConnectionOptions = {}, headers = '', at = target): Promise<{ text: string; serial: string }> {
  return new Promise((resolve, reject) => {
    const common = { port: edge.port, host: '127.0.0.1', servername: 'localhost', ca: authority.certificate }
    const socket: TLSSocket = connect({ ...common, ...options }, () => {
      socket.write(`GET ${at} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${headers}\r\n`)
    })
    let text = ''
    let serial = ''
    socket.setEncoding('latin1')
    socket.on('secureConnect', () => {
      serial = socket.getPeerCertificate().serialNumber
    })
    socket.on('data', (some: string) => {
      text += some
    })
    socket.on('error', reject)
    socket.on('close', () => resolve({ text, serial }))
  })
}

test('HTTP/1.1 and HTTP/2 are served over TLS 1.3, and nothing older', async () => {
  expect((await ask()).text).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nstrict-transport-security: max-age=31536000\r\n/)
  await expect(ask({ maxVersion: 'TLSv1.2' })).rejects.toThrow(/alert/)
  const client = http2Client(edge.port, authority.certificate)
  const call = client.open('GET', target)
  await expect.poll(() => call.answer.isEnded).toBe(true)
  client.close()
  expect(call.answer).toMatchObject({ status: 200, text: '{"ok":1}\n' })
  expect(backend.requests.map((request) => listFieldValues(request, 'x-forwarded-proto'))).toEqual([
    ['https'],
    ['https'],
  ])
})

test('the certificate that a client has proved is passed on, and none that it claims', async () => {
  const pem = await issueTo('client')
  await ask({ cert: pem, key: pem }, 'client-cert: :AAAA:\r\n')
  await ask({}, 'client-cert: :AAAA:\r\n')
  const [first, second] = backend.requests.map((request) => listFieldValues(request, 'client-cert'))
  const [, der = ''] = /BEGIN CERTIFICATE-+\n([\s\S]*?)\n-+END/.exec(pem) ?? []
  expect([first, second]).toEqual([[`:${der.replaceAll('\n', '')}:`], []])
})

test('a certificate that the edge does not trust is passed on to nobody', async () => {
  const stranger = await createAuthority(folder, 'stranger')
  const { pem } = await issueCertificate(folder, stranger, 'unknown')
  await ask({ cert: pem, key: pem })
  expect(backend.requests.map((request) => listFieldValues(request, 'client-cert'))).toEqual([[]])
})

test('a service with TLS is reached by a certificate of the trusted authorities alone', async () => {
  expect((await ask({}, '', '/api/v2/hub/node')).text).toMatch(/^HTTP\/1\.1 200 [\s\S]*secured$/)
  expect((await ask({}, '', '/api/v2/site/key')).text).toMatch(/^HTTP\/1\.1 503 [\s\S]*"code":"no_backend"/)
})

test('the plain listener sends reads to https and refuses the rest', async () => {
  const send = (method: string, at: string, host = 'Site.example:8080') =>
    sendExactRequest({ port: edge.plain_port, method, path: at, headers: { host } })
  const location = `https://site.example:8443${target}?a=b`
  expect(await send('GET', `/x/..${target}?a=b`)).toMatchObject({ status: 308, headers: { location } })
  expect(await send('HEAD', `${target}?a=b`)).toMatchObject({ status: 308, headers: { location } })
  expect(await send('POST', target)).toMatchObject({ status: 403, json: { code: 'forbidden' } })
  expect(await send('GET', `${target}%2f`)).toMatchObject({ status: 400 })
  expect(await send('GET', target, "a'b")).toMatchObject({ status: 400 })
  expect(backend.requests).toEqual([])
})

test('each host name has its certificate, and a changed file is served without a restart', async () => {
  const before = [await ask(), await ask({ servername: 'other.example', checkServerIdentity: () => undefined })]
  expect(before[0]?.serial).not.toBe(before[1]?.serial)
  const renewed = [await issueTo('renewed'), await issueTo('renewed-other')]
  writeFileSync(file('first.pem'), renewed[0] ?? '')
  writeFileSync(file('other.pem'), renewed[1] ?? '')
  await expect.poll(async () => (await ask()).serial, { timeout: 30_000 }).not.toBe(before[0]?.serial)
  const after = await ask({ servername: 'other.example', checkServerIdentity: () => undefined })
  expect(after.serial).not.toBe(before[1]?.serial)
  await expect(ask({ maxVersion: 'TLSv1.2' })).rejects.toThrow(/alert/)
})
