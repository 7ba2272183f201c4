// Strangers at the listener: none is admitted, and nothing is revealed to them.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { connect as connectPlain, type Socket } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { encodeBatch, parcels_path } from '../../../adapters/transport/mtls/parcel-batch.ts'
import {
  createAuthority,
  issueCertificate,
  issueIrregularCertificate,
  type SiteAuthority,
} from '../../support/keys/site-certificates.ts'
import { requires } from '../../support/runner/requires.ts'
import { buildParcel, createMtlsEnd, createMtlsPair, createReceiver, type MtlsEnd, type MtlsPair } from './mtls-pair.ts'

const [server, client] = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']

let world: MtlsPair
let bravo: MtlsEnd
let charlie: SiteAuthority
const { taken, land } = createReceiver()

/** Bravo pins alpha and charlie, each by an authority of its own. */
beforeAll(async () => {
  world = await createMtlsPair()
  charlie = await createAuthority(world.dir, 'charlie')
  const { alpha } = world
  const url = 'https://127.0.0.1:9'
  const peers = { alpha: { url, ca_file: alpha.authority.file }, charlie: { url, ca_file: charlie.file } }
  const { cert_file, port, authority } = world.bravo
  bravo = createMtlsEnd({ site: 'bravo', port, cert_file, peers }, authority)
  await bravo.carrier.start(land)
})
afterAll(async () => {
  await bravo.carrier.stop()
  await world.end()
})

/** The answer to a batch; empty when the connection was closed without one. */
function requestBatch(port: number, options: ConnectionOptions, body = encodeBatch([buildParcel(1)])): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options })
    let text = ''
    const head = `POST ${parcels_path} HTTP/1.1\r\nhost: bravo\r\nconnection: close\r\ncontent-type: application/json`
    socket.on('secureConnect', () => socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`))
    socket.on('data', (bytes: Buffer) => (text += bytes.toString()))
    socket.on('error', () => undefined)
    socket.once('close', () => resolve(text))
  })
}

const buildClientIdentity = ({ pem }: { pem: string }) => ({ cert: pem, key: pem })
const dir = () => world.dir
const ofAlpha = () => world.alpha.authority

const unpinnedClients: [string, string, () => Promise<ConnectionOptions>][] = [
  ['no certificate', 'handshake', async () => ({})],
  [
    'a certificate of an authority that nobody pins',
    'handshake',
    async () =>
      buildClientIdentity(
        await issueCertificate(dir(), await createAuthority(dir(), 'foreign'), 'foreign-alpha', { site: 'alpha' }),
      ),
  ],
  [
    'an expired certificate',
    'handshake',
    async () =>
      buildClientIdentity(
        await issueCertificate(dir(), ofAlpha(), 'expired', { site: 'alpha', not_after: Date.now() - 60_000 }),
      ),
  ],
  [
    'a certificate for servers alone',
    'handshake',
    async () =>
      buildClientIdentity(await issueIrregularIdentity('server-alone', ['urn:platform:site:alpha'], [server])),
  ],
  ['TLS 1.2', 'handshake', async () => ({ ...readOwnIdentity(), maxVersion: 'TLSv1.2' as const })],
  [
    'a certificate of another pinned authority in the name of alpha',
    'other_authority',
    async () => buildClientIdentity(await issueCertificate(dir(), charlie, 'posing', { site: 'alpha' })),
  ],
  [
    'a certificate that names a site which is not pinned',
    'not_pinned',
    async () => buildClientIdentity(await issueCertificate(dir(), ofAlpha(), 'delta')),
  ],
  [
    'a certificate that names no site',
    'names_no_site',
    async () => buildClientIdentity(await issueIrregularIdentity('nameless', ['urn:other'], [client])),
  ],
  [
    'a certificate that names two sites',
    'names_no_site',
    async () =>
      buildClientIdentity(
        await issueIrregularIdentity('two', ['urn:platform:site:alpha', 'urn:platform:site:charlie'], [client]),
      ),
  ],
  [
    'a name that hides another in itself',
    'names_no_site',
    async () =>
      buildClientIdentity(
        await issueIrregularIdentity('hidden', [], [client], ['x, URI:urn:platform:site:alpha, DNS:x']),
      ),
  ],
  [
    'a certificate that says no use',
    'wrong_use',
    async () => buildClientIdentity(await issueIrregularIdentity('useless', ['urn:platform:site:alpha'], [])),
  ],
]

function issueIrregularIdentity(name: string, uris: string[], uses: string[], dns: string[] = []) {
  return issueIrregularCertificate(dir(), ofAlpha(), name, { uris, uses, dns })
}

function readOwnIdentity() {
  return buildClientIdentity({ pem: fs.readFileSync(world.alpha.cert_file, 'utf8') })
}

describe('the listener refuses an unpinned client', () => {
  test.each(unpinnedClients)('%s', async (_what, why, options) => {
    const before = bravo.counted[why] ?? 0
    const others = { ...bravo.counted }
    expect(await requestBatch(bravo.port, await options())).toBe('')
    expect(bravo.counted).toEqual({ ...others, [why]: before + 1 })
    expect(taken).toEqual([])
  })

  test('the listener accepts the pinned peer', async () => {
    expect(await requestBatch(bravo.port, readOwnIdentity())).toContain('200 OK')
    expect(taken.splice(0).map(({ peer }) => peer)).toEqual(['alpha'])
  })
})

test('the certificate identifies a pinned peer: a peer name in the body makes the body invalid', async () => {
  const charlies = buildClientIdentity(await issueCertificate(dir(), charlie, 'charlie'))
  const body = JSON.parse(encodeBatch([buildParcel(7)]))
  for (const posing of [{ ...body, peer: 'alpha' }, { parcels: [{ ...body.parcels[0], src: 'alpha' }] }]) {
    expect(await requestBatch(bravo.port, charlies, JSON.stringify(posing))).toContain('400 Bad Request')
  }
  expect(taken).toEqual([])
  await requestBatch(bravo.port, charlies)
  expect(taken.splice(0).map(({ peer }) => peer)).toEqual(['charlie'])
})

test('a peer with pinned keys is refused when its certificate has another key', async () => {
  const { dir: folder, alpha } = world
  const narrow = await issueCertificate(folder, alpha.authority, 'narrow', { site: 'bravo' })
  const pin = { url: 'https://127.0.0.1:9', ca_file: alpha.authority.file, keys: ['0'.repeat(64)] }
  const end = createMtlsEnd({ site: 'bravo', port: 0, cert_file: narrow.file, peers: { alpha: pin } }, alpha.authority)
  await end.carrier.start(land)
  expect(await requestBatch(end.carrier.port(), readOwnIdentity())).toBe('')
  expect(end.counted).toEqual({ other_key: 1 })
  await end.carrier.stop()
})

test('repeated refusals are all counted, and each reason is logged and audited once a minute', async () => {
  const { counted, recorded, events } = bravo
  const before = { counted: counted.handshake ?? 0, recorded: recorded.length, events: events.length }
  for (let i = 0; i < 5; i++) await requestBatch(bravo.port, {})
  expect(counted.handshake).toBe(before.counted + 5)
  expect(recorded).toHaveLength(before.recorded)
  expect(events.slice(before.events).filter((event) => event === 'mtls.refused')).toEqual([])
  const reasons = recorded.map(({ detail }) => detail.why)
  expect([...reasons].sort()).toEqual([...new Set(reasons)].sort())
  expect(recorded[0]).toMatchObject({
    action: 'mtls.connection.refused',
    outcome: 'refused',
    tenant_id: 'tenant-bravo',
  })
})

describe('clients that never complete their handshake', () => {
  const idle: Socket[] = []
  afterEach(() => {
    for (const each of idle.splice(0)) each.destroy()
  })

  async function knock(): Promise<Socket> {
    const socket = connectPlain({ host: '127.0.0.1', port: bravo.port })
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    idle.push(socket)
    return socket
  }

  test('do not block a pinned peer: the oldest connections are closed and counted', async () => {
    const before = bravo.counted.too_many_handshakes ?? 0
    for (let i = 0; i < 300; i++) await knock()
    expect(await requestBatch(bravo.port, readOwnIdentity())).toContain('200 OK')
    expect(taken.splice(0)).toHaveLength(1)
    await vi.waitFor(() => expect(idle.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(300 - 16), 60_000)
    expect((bravo.counted.too_many_handshakes ?? 0) - before).toBeGreaterThanOrEqual(300 - 16)
  })

  test('do not close the connection of an accepted peer', async () => {
    const peer = connect({ host: '127.0.0.1', port: bravo.port, rejectUnauthorized: false, ...readOwnIdentity() })
    await once(peer, 'secureConnect')
    for (let i = 0; i < 100; i++) await knock()
    const body = encodeBatch([buildParcel(1)])
    const head = `POST ${parcels_path} HTTP/1.1\r\nhost: bravo\r\ncontent-type: application/json`
    peer.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    const [answer] = (await once(peer, 'data')) as [Buffer]
    expect(answer.toString()).toContain('200 OK')
    peer.destroy()
    taken.splice(0)
  })
})

requires('openssl')('the listener does not reveal to an unpinned client which authorities are pinned', async () => {
  const words = ['s_client', '-connect', `127.0.0.1:${bravo.port}`, '-tls1_3', '-ign_eof']
  const text = await new Promise<string>((resolve) => {
    const child = execFile('openssl', words, (_error, stdout, stderr) => resolve(stdout + stderr))
    child.stdin?.end()
  })
  expect(text).toContain('No client certificate CA names sent')
  expect(text).not.toMatch(/alpha|charlie/)
})
