// Files that a broker or a hub is reached with: without sound ones no start, and the doctor says which and why.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { findNetworkProblems } from '../../daemon/boot/links/network-carriers.ts'
import { examineSite } from '../../daemon/offline/doctor/examine-site.ts'
import { readSiteSettings } from '../../daemon/offline/site/site-profile.ts'
import { createScratchFolder } from '../support/command/run-command.ts'
import { createAuthority, issueCertificate, type SiteAuthority } from '../support/keys/site-certificates.ts'
import { createTestSite, type TestSite } from '../support/site/test-site.ts'

const { dir, remove } = createScratchFolder('network-files')
const day_ms = 86_400_000
let authority: SiteAuthority
let own: string
let world: TestSite
beforeAll(async () => {
  authority = await createAuthority(dir, 'broker')
  own = (await issueCertificate(dir, authority, 'alpha', { not_after: Date.now() + 60 * day_ms })).file
})
afterEach(() => world.end())
afterAll(remove)

function writeKeyFile(name: string, text: string, mode = 0o600): string {
  const at = path.join(dir, name)
  fs.writeFileSync(at, text)
  fs.chmodSync(at, mode)
  return at
}

const url = 'amqps://broker.example'
const secret = 'a secret of more than sixteen characters'
const byCertificate = (more: object = {}) => ({
  amqp: { url, peers: { bravo: {} }, tls_ca_file: authority.file, tls_cert_file: own, tls_key_file: own, ...more },
})
const byPassword = { amqp: { url, user: 'alpha', peers: { bravo: {} } } }
const byHub = (more: object = {}) => ({
  coalition: {
    ...{ hub_url: 'https://hub.example', token_url: 'https://hub.example/oauth2/token', peers: ['bravo'] },
    ...{ secret_file: writeKeyFile('secret', secret), ca_file: authority.file },
    ...more,
  },
})

async function listStartProblems(profile: object, env: Record<string, string> = {}): Promise<string[]> {
  world = await createTestSite({ profile: profile as Record<string, Record<string, unknown>> })
  const { resolved } = readSiteSettings(world.folder, env)
  return (await findNetworkProblems(world.folder, resolved)).map(({ path: at, message }) => `${at}: ${message}`)
}

async function listFindings(profile: object, now: number, env: Record<string, string> = {}) {
  world = await createTestSite({ profile: profile as Record<string, Record<string, unknown>> })
  const all = await examineSite(world.folder, env, now, () => undefined)
  return all.filter(({ check }) => check === 'amqp' || check === 'coalition')
}

describe('a start finds nothing to say', () => {
  test('of sound files', async () => {
    expect(await listStartProblems({ ...byCertificate(), ...byHub({ peers: ['charlie'] }) })).toEqual([])
  })
  test('of a password in a file of its own', async () => {
    expect(await listStartProblems(byPassword, { AMQP_PASSWORD_FILE: writeKeyFile('password', secret) })).toEqual([])
  })
  test('of networks that serve nobody', async () => {
    expect(await listStartProblems({ amqp: { url, tls_key_file: '/nowhere' } })).toEqual([])
  })
})

const faults: [string, () => object, RegExp][] = [
  [
    'authorities of the broker that are not there',
    () => byCertificate({ tls_ca_file: '/nowhere' }),
    /^amqp: \/nowhere cannot be read$/,
  ],
  [
    'authorities of the broker that are none',
    () => byCertificate({ tls_ca_file: writeKeyFile('none.pem', secret) }),
    /^amqp: .*none.pem contains no readable certificate/,
  ],
  [
    'a certificate that is broken',
    () =>
      byCertificate({
        tls_cert_file: writeKeyFile('broken.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'),
      }),
    /^amqp: .*broken.pem contains no readable certificate/,
  ],
  [
    'a key that others may read',
    () => byCertificate({ tls_key_file: writeKeyFile('open.key', fs.readFileSync(own, 'utf8'), 0o644) }),
    /^amqp: .*open.key can be read by others; run: chmod 600 /,
  ],
  [
    'a key that the group may read',
    () => byCertificate({ tls_key_file: writeKeyFile('group.key', fs.readFileSync(own, 'utf8'), 0o640) }),
    /^amqp: .*group.key can be read by others/,
  ],
  [
    'a key of another certificate',
    () => byCertificate({ tls_key_file: writeKeyFile('other.key', secret) }),
    /^amqp: .*other.key does not contain the unencrypted private key of the certificate/,
  ],
  [
    'authorities of the hub that are not there',
    () => byHub({ ca_file: '/nowhere' }),
    /^coalition: \/nowhere cannot be read$/,
  ],
  [
    'a secret that is not there',
    () => byHub({ secret_file: '/nowhere' }),
    /^coalition: \/nowhere cannot be read: it does not exist$/,
  ],
  [
    'a secret that others may read',
    () => byHub({ secret_file: writeKeyFile('open', secret, 0o604) }),
    /^coalition: .*open can be read by others/,
  ],
  [
    'a secret that is empty',
    () => byHub({ secret_file: writeKeyFile('empty', '\n') }),
    /^coalition: .*empty is empty$/,
  ],
]

test.each(faults)('refuses to start for %s, and reveals no content', async (_what, profile, pattern) => {
  const found = await listStartProblems(profile())
  expect(found).toEqual([expect.stringMatching(pattern)])
  expect(found.join()).not.toContain(secret)
})

test('a start is refused for a password that others may read', async () => {
  const env = { AMQP_PASSWORD_FILE: writeKeyFile('open-password', secret, 0o644) }
  await expect(listStartProblems(byPassword, env)).rejects.toThrow(
    'amqp.password: the file named by AMQP_PASSWORD_FILE can be read by others',
  )
})

test('such a start really is', async () => {
  world = await createTestSite({ profile: byHub({ secret_file: writeKeyFile('open', secret, 0o604) }) })
  await expect(world.start()).rejects.toThrow(/coalition: .*open can be read by others/)
})

describe('the doctor', () => {
  test('finds a sound site fine but for the peer that is not pinned', async () => {
    const found = await listFindings(byCertificate({ tls_ca_file: own }), Date.now())
    expect(found).toMatchObject([{ state: 'problem', detail: 'bravo is not a pinned peer' }])
  })

  test('warns of certificates before they end, and of those that have ended', async () => {
    const soon = await listFindings(byCertificate(), Date.now() + 50 * day_ms)
    expect(soon).toContainEqual(
      expect.objectContaining({
        state: 'warning',
        detail: expect.stringMatching(/^the certificate for the broker ends on/),
      }),
    )
    await world.end()
    const late = await listFindings(byCertificate(), Date.now() + 61 * day_ms)
    expect(late).toContainEqual(
      expect.objectContaining({
        state: 'problem',
        detail: expect.stringMatching(/^the certificate for the broker ended on/),
      }),
    )
  })

  test('finds what a start is refused for', async () => {
    const found = await listFindings(byHub({ secret_file: writeKeyFile('open', secret, 0o604) }), Date.now())
    expect(found).toContainEqual(
      expect.objectContaining({
        check: 'coalition',
        state: 'problem',
        detail: expect.stringContaining('read by others'),
      }),
    )
  })
})
