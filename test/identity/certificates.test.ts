// Client certificates: who holds one by the profile's table, and every reason for being nobody.
import { execFileSync } from 'node:child_process'
import { randomBytes, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  clientExtensions,
  type IssuedCertificate,
  type OpensslAuthority,
  opensslAuthority,
} from '../support/keys/openssl-authority.ts'
import { isOnPath, requires } from '../support/runner/requires.ts'
import { createCertificateFixture } from './certificate-fixture.ts'
import { noon } from './identity-fixture.ts'

const needsOpenssl = requires('openssl')
const day_ms = 86_400_000
const alt = [...clientExtensions, 'subjectAltName=URI:urn:example:ada,email:ada@example.invalid']
const holder = { subject: 'ada', tenant_id: 'alpha', roles: ['analyst'] }
const rowOf = (issued: IssuedCertificate) => ({ ...holder, fingerprint: fingerprintOf(issued) })
const fingerprintOf = ({ der }: IssuedCertificate) =>
  new X509Certificate(der).fingerprint256.replaceAll(':', '').toLowerCase()

const dir = mkdtempSync(join(tmpdir(), 'platform-certificates-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let root: OpensslAuthority
let other: OpensslAuthority
let ada: IssuedCertificate
beforeAll(() => {
  if (!isOnPath('openssl')) return
  root = opensslAuthority(dir, 'root', noon)
  other = opensslAuthority(dir, 'other', noon, '/O=Example/CN=root')
  ada = root.issue({ subject: '/C=NL/O=Example/OU=A, B \\+ C/CN=Ada', extensions: alt })
})

describe('the table', () => {
  const dn = 'CN=Ada,OU=A\\, B \\+ C,O=Example,C=NL'
  const rows = [
    ['its fingerprint', () => ({ fingerprint: fingerprintOf(ada) })],
    ['its fingerprint as openssl prints it', () => ({ fingerprint: new X509Certificate(ada.der).fingerprint256 })],
    ['a URI', () => ({ uri: 'urn:example:ada' })],
    ['an email address', () => ({ email: 'ada@example.invalid' })],
    ['its name', () => ({ dn })],
  ] as const
  needsOpenssl.each(rows)('names a certificate by %s', async (_, row) => {
    const site = createCertificateFixture(root.cert, [{ ...holder, ...row(), clearance: { level: 'SECRET' } }])
    expect(await site.claims(ada.der)).toEqual({
      sub: 'ada',
      tenant_id: 'alpha',
      roles: ['analyst'],
      clearance: { level: 'SECRET', categories: [] },
      jti: `x509:${fingerprintOf(ada)}`,
      exp: noon / 1000 + 30 * 86_400,
    })
  })

  needsOpenssl('names it letter by letter, and another certificate is nobody', async () => {
    const near = [
      { uri: 'urn:example:Ada' },
      { uri: 'urn:example:ad' },
      { email: 'ADA@example.invalid' },
      { dn: dn.replace('NL', 'nl') },
      { dn: 'CN=Ada' },
      { fingerprint: '0'.repeat(64) },
    ]
    const site = createCertificateFixture(
      root.cert,
      near.map((row) => ({ ...holder, ...row })),
    )
    expect(await site.who(ada.der)).toBeUndefined()
    // With what an operator needs to write the row.
    expect(site.logged.at(-1)).toContain(fingerprintOf(ada))
    expect(JSON.parse(site.logged.at(-1)?.replace(/^\S+ /, '') ?? '')).toMatchObject({ reason: 'nobody', dn })
    expect(await createCertificateFixture(root.cert, []).who(ada.der)).toBeUndefined()
  })

  needsOpenssl('takes the name as openssl prints it after RFC 2253', async () => {
    const names = [
      '/C=NL/O=Kustwacht \u00e9\u00df/CN=#7 "Ada" <a@b>',
      '/O=a\\/b;c=d/CN= Ada ',
      '/O=Example/CN=Ada+UID=7',
    ]
    for (const subject of names) {
      const issued = root.issue({ subject, extensions: alt })
      const printed = ['x509', '-noout', '-subject', '-nameopt', 'RFC2253,-esc_msb']
      const line = execFileSync('openssl', printed, { input: issued.cert, encoding: 'utf8' })
      const dn = line.trim().replace(/^subject=/, '')
      expect(await createCertificateFixture(root.cert, [{ ...holder, dn }]).who(issued.der), dn).toBe('ada')
    }
  })

  needsOpenssl('with two rows for one certificate contradicts itself: nobody', async () => {
    const rows = [
      { ...holder, uri: 'urn:example:ada' },
      { ...holder, subject: 'root', email: 'ada@example.invalid' },
    ]
    expect(await createCertificateFixture(root.cert, rows).who(ada.der)).toBeUndefined()
  })

  needsOpenssl('is not fooled by a name inside of another name', async () => {
    const names = ['[names]', 'URI.1 = "urn:x, email:ada@example.invalid"', 'DNS.1 = urn.example.ada']
    const sly = root.issue({
      subject: '/O=Example/CN=Eve,CN=Ada',
      extensions: [...clientExtensions, 'subjectAltName=@names', ...names],
    })
    const rows = [{ email: 'ada@example.invalid' }, { dn: 'CN=Ada' }, { dn: 'CN=Eve,CN=Ada,O=Example' }]
    expect(
      await createCertificateFixture(
        root.cert,
        rows.map((row) => ({ ...holder, ...row })),
      ).who(sly.der),
    ).toBeUndefined()
    expect(
      await createCertificateFixture(root.cert, [{ ...holder, dn: 'CN=Eve\\,CN\\=Ada,O=Example' }]).who(sly.der),
    ).toBeUndefined()
    expect(
      await createCertificateFixture(root.cert, [{ ...holder, dn: 'CN=Eve\\,CN=Ada,O=Example' }]).who(sly.der),
    ).toBe('ada')
  })

  test('gives nobody the site’s own name, nor every tenant', () => {
    const row = { ...holder, dn: 'CN=Ada' }
    expect(() => createCertificateFixture('', [{ ...row, subject: 'role:site' }])).toThrow('own services')
    expect(() => createCertificateFixture('', [{ ...row, tenant_id: '*' }])).toThrow('own services')
    expect(() => createCertificateFixture('', [{ ...row, fingerprint: '0'.repeat(64) }])).toThrow()
  })
})

describe('a certificate is nobody’s', () => {
  const cases: [string, () => IssuedCertificate, string][] = [
    [
      'of another authority under the same name',
      () => other.issue({ subject: '/CN=Ada', extensions: alt }),
      'untrusted',
    ],
    ['for servers', () => issued(['extendedKeyUsage=serverAuth']), 'not_for_clients'],
    ['for anything', () => issued(['extendedKeyUsage=anyExtendedKeyUsage']), 'not_for_clients'],
    ['without a purpose', () => issued([]), 'not_for_clients'],
    [
      'for encryption alone',
      () => issued(['extendedKeyUsage=clientAuth', 'keyUsage=keyEncipherment']),
      'not_for_clients',
    ],
    ['of an authority', () => issued(['basicConstraints=CA:TRUE', 'extendedKeyUsage=clientAuth']), 'an_authority'],
    ['that has ended', () => root.issue({ subject: '/CN=Ada', from: noon - 2 * day_ms, to: noon }), 'expired'],
    ['that has not begun', () => root.issue({ subject: '/CN=Ada', from: noon + 1_000 }), 'not_yet_valid'],
  ]
  const issued = (extensions: string[]) => root.issue({ subject: '/CN=Ada', extensions })
  needsOpenssl.each(cases)('%s', async (_, make, reason) => {
    const certificate = make()
    const site = createCertificateFixture(root.cert, [rowOf(certificate)])
    expect(await site.who(certificate.der)).toBeUndefined()
    expect(site.logged.at(-1)).toContain(`"reason":"${reason}"`)
  })

  needsOpenssl('that the carrier does not trust, cut, changed, or no certificate at all', async () => {
    const site = createCertificateFixture(root.cert, [rowOf(ada)])
    expect(await site.who(ada.der, undefined, 'DEPTH_ZERO_SELF_SIGNED_CERT')).toBeUndefined()
    const changed = Buffer.from(ada.der)
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
    for (const der of [
      changed,
      ada.der.subarray(0, -1),
      randomBytes(64),
      Buffer.alloc(0),
      Buffer.from('3080', 'hex'),
    ]) {
      expect(await site.who(der)).toBeUndefined()
    }
    expect(await site.who(ada.der)).toBe('ada')
  })

  needsOpenssl('once it ends, on a connection that goes on', async () => {
    const site = createCertificateFixture(root.cert, [rowOf(ada)])
    const shown = { der: ada.der }
    expect(await site.provider.verify(undefined, shown)).toBe(await site.provider.verify(undefined, shown))
    site.clock.now += 30 * day_ms
    expect(await site.provider.verify(undefined, shown)).toBeUndefined()
  })

  needsOpenssl('when an authority between it and the root is missing, or is not the root’s', async () => {
    const lower = root.createSubordinate('lower')
    const bob = lower.issue({ subject: '/CN=Bob' })
    expect(await createCertificateFixture(root.cert + lower.cert, [rowOf(bob)]).who(bob.der)).toBe('ada')
    expect(await createCertificateFixture(root.cert, [rowOf(bob)]).who(bob.der)).toBeUndefined()
    expect(await createCertificateFixture(lower.cert, [rowOf(bob)]).who(bob.der)).toBeUndefined()
    expect(await createCertificateFixture(other.cert + lower.cert, [rowOf(bob)]).who(bob.der)).toBeUndefined()
  })
})

test('a file of authorities holds authorities, at least one', async () => {
  expect(() => createCertificateFixture('', [])).toThrow('no certificate')
  if (ada) expect(() => createCertificateFixture(root.cert + ada.cert, [])).toThrow('is not an authority')
})

describe('with a token', () => {
  needsOpenssl('it must be the holder’s own, or one in which the holder acts', async () => {
    const site = createCertificateFixture(root.cert, [rowOf(ada)])
    const shown = (bearer?: string) => site.who(ada.der, bearer)
    expect(await shown('ada@alpha')).toBe('ada')
    expect(await shown('bob@alpha<ada')).toBe('bob')
    for (const bearer of ['bob@alpha', 'ada@bravo', 'bob@bravo<ada', 'ada<bob@alpha', 'nonsense', '']) {
      expect(await shown(bearer), bearer).toBeUndefined()
    }
  })

  needsOpenssl('a certificate of nobody takes the token along', async () => {
    expect(await createCertificateFixture(root.cert, []).who(ada.der, 'ada@alpha')).toBeUndefined()
    expect(await createCertificateFixture(root.cert, []).provider.verify('ada@alpha')).toMatchObject({ sub: 'ada' })
  })
})
