// Files that a broker or a hub is reached with: without sound ones no start, and the doctor says which and why.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { networkProblems } from '../../daemon/boot/network-carriers.ts'
import { examine } from '../../daemon/boot/offline/examination.ts'
import { siteSettings } from '../../daemon/boot/offline/site-profile.ts'
import { type Authority, aCertificate, anAuthority } from '../support/certificates.ts'
import { scratch } from '../support/command-line.ts'
import { type SiteWorld, stoppedWorld } from '../support/site-world.ts'

const { dir, remove } = scratch('network-files')
const day_ms = 86_400_000
let authority: Authority
let own: string
let world: SiteWorld
beforeAll(async () => {
  authority = await anAuthority(dir, 'broker')
  own = (await aCertificate(dir, authority, 'alpha', { not_after: Date.now() + 60 * day_ms })).file
})
afterEach(() => world.end())
afterAll(remove)

function file(name: string, text: string, mode = 0o600): string {
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
    ...{ secret_file: file('secret', secret), ca_file: authority.file },
    ...more,
  },
})

async function problems(profile: object, env: Record<string, string> = {}): Promise<string[]> {
  world = await stoppedWorld({ profile: profile as Record<string, Record<string, unknown>> })
  const { resolved } = siteSettings(world.folder, env)
  return (await networkProblems(world.folder, resolved, env)).map(({ path: at, message }) => `${at}: ${message}`)
}

async function findings(profile: object, now: number, env: Record<string, string> = {}) {
  world = await stoppedWorld({ profile: profile as Record<string, Record<string, unknown>> })
  const all = await examine(world.folder, env, now, () => undefined)
  return all.filter(({ check }) => check === 'amqp' || check === 'coalition')
}

describe('a start finds nothing to say', () => {
  test('of sound files', async () => {
    expect(await problems({ ...byCertificate(), ...byHub({ peers: ['charlie'] }) })).toEqual([])
  })
  test('of a password in a file of its own', async () => {
    expect(await problems(byPassword, { AMQP_PASSWORD_FILE: file('password', secret) })).toEqual([])
  })
  test('of networks that serve nobody', async () => {
    expect(await problems({ amqp: { url, tls_key_file: '/nowhere' } })).toEqual([])
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
    () => byCertificate({ tls_ca_file: file('none.pem', secret) }),
    /^amqp: .*none.pem holds no certificate/,
  ],
  [
    'a certificate that is broken',
    () =>
      byCertificate({
        tls_cert_file: file('broken.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'),
      }),
    /^amqp: .*broken.pem holds no certificate/,
  ],
  [
    'a key that others may read',
    () => byCertificate({ tls_key_file: file('open.key', fs.readFileSync(own, 'utf8'), 0o644) }),
    /^amqp: .*open.key can be read by others; run: chmod 600 /,
  ],
  [
    'a key that the group may read',
    () => byCertificate({ tls_key_file: file('group.key', fs.readFileSync(own, 'utf8'), 0o640) }),
    /^amqp: .*group.key can be read by others/,
  ],
  [
    'a key of another certificate',
    () => byCertificate({ tls_key_file: file('other.key', secret) }),
    /^amqp: .*other.key does not hold the private key of the certificate/,
  ],
  [
    'authorities of the hub that are not there',
    () => byHub({ ca_file: '/nowhere' }),
    /^coalition: \/nowhere cannot be read$/,
  ],
  ['a secret that is not there', () => byHub({ secret_file: '/nowhere' }), /^coalition: \/nowhere cannot be read$/],
  [
    'a secret that others may read',
    () => byHub({ secret_file: file('open', secret, 0o604) }),
    /^coalition: .*open can be read by others/,
  ],
  ['a secret that is empty', () => byHub({ secret_file: file('empty', '\n') }), /^coalition: .*empty is empty$/],
]

test.each(faults)('a start is refused for %s, and no content is told', async (_what, profile, said) => {
  const found = await problems(profile())
  expect(found).toEqual([expect.stringMatching(said)])
  expect(found.join()).not.toContain(secret)
})

test('a start is refused for a password that others may read', async () => {
  const found = await problems(byPassword, { AMQP_PASSWORD_FILE: file('open-password', secret, 0o644) })
  expect(found).toEqual([expect.stringMatching(/^amqp: .*open-password can be read by others/)])
})

test('such a start really is', async () => {
  world = await stoppedWorld({ profile: byHub({ secret_file: file('open', secret, 0o604) }) })
  await expect(world.start()).rejects.toThrow(/coalition: .*open can be read by others/)
})

describe('the doctor', () => {
  test('finds a sound site fine but for the peer that is not pinned', async () => {
    const found = await findings(byCertificate({ tls_ca_file: own }), Date.now())
    expect(found).toMatchObject([{ state: 'problem', detail: 'bravo is no pinned peer' }])
  })

  test('warns of certificates before they end, and of those that have ended', async () => {
    const soon = await findings(byCertificate(), Date.now() + 50 * day_ms)
    expect(soon).toContainEqual(
      expect.objectContaining({
        state: 'warning',
        detail: expect.stringMatching(/^the certificate for the broker ends on/),
      }),
    )
    await world.end()
    const late = await findings(byCertificate(), Date.now() + 61 * day_ms)
    expect(late).toContainEqual(
      expect.objectContaining({
        state: 'problem',
        detail: expect.stringMatching(/^the certificate for the broker ended on/),
      }),
    )
  })

  test('finds what a start is refused for', async () => {
    const found = await findings(byHub({ secret_file: file('open', secret, 0o604) }), Date.now())
    expect(found).toContainEqual(
      expect.objectContaining({
        check: 'coalition',
        state: 'problem',
        detail: expect.stringContaining('read by others'),
      }),
    )
  })
})
