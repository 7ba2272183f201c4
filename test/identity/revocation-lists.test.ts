// Revocation lists of the authorities: a listed certificate does not count, and without a current list nothing is judged.
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import {
  decodePem,
  type IssuedCertificate,
  type OpensslAuthority,
  opensslAuthority,
} from '../support/keys/openssl-authority.ts'
import { requires } from '../support/runner/requires.ts'
import { createCertificateFixture } from './certificate-fixture.ts'
import { noon } from './identity-fixture.ts'

const test = requires('openssl')
const hour_ms = 3_600_000

let dir: string
let root: OpensslAuthority
let ada: IssuedCertificate
let bob: IssuedCertificate
let before: string
let after: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'platform-lists-'))
  root = opensslAuthority(dir, 'root', noon)
  ada = root.issue({ subject: '/CN=Ada' })
  bob = root.issue({ subject: '/CN=Bob' })
  before = root.issueRevocationList()
  root.revoke(bob)
  after = root.issueRevocationList({ from: noon - 1_000 })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const rowOf = ({ der }: IssuedCertificate, subject: string) => ({
  subject,
  tenant_id: 'alpha',
  fingerprint: new X509Certificate(der).fingerprint256.replaceAll(':', '').toLowerCase(),
})
const rows = () => [rowOf(ada, 'ada'), rowOf(bob, 'bob')]

test('a certificate that is on the list does not count, others do; in PEM and in DER', async () => {
  for (const lists of [after, decodePem(after), before + after, after + before]) {
    const site = createCertificateFixture(root.cert, rows(), lists)
    expect([await site.who(ada.der), await site.who(bob.der)]).toEqual(['ada', undefined])
  }
})

test('a new list counts on the next look, on a connection that goes on', async () => {
  const site = createCertificateFixture(root.cert, rows(), before)
  const shown = { der: bob.der }
  expect(await site.provider.verify(undefined, shown)).toMatchObject({ sub: 'bob' })
  writeFileSync(site.crl_file, after)
  expect(await site.provider.verify(undefined, shown)).toBeUndefined()
})

test('a list whose next one is due says nothing any more, until that one is there', async () => {
  const site = createCertificateFixture(root.cert, rows(), root.issueRevocationList({ to: noon + hour_ms }))
  expect(await site.who(ada.der)).toBe('ada')
  site.clock.now += hour_ms
  expect(await site.who(ada.der)).toBe('unavailable')
  writeFileSync(site.crl_file, root.issueRevocationList({ from: noon + hour_ms }))
  expect(await site.who(ada.der)).toBe('ada')
  writeFileSync(site.crl_file, root.issueRevocationList({ from: noon + 2 * hour_ms }))
  expect(await site.who(ada.der)).toBe('unavailable')
})

test('each authority on the path has its own list; one of them missing says nothing', async () => {
  const lower = root.createSubordinate('lower')
  const carol = lower.issue({ subject: '/CN=Carol' })
  const ca = root.cert + lower.cert
  const carols = [rowOf(carol, 'carol')]
  expect(
    await createCertificateFixture(ca, carols, lower.issueRevocationList() + root.issueRevocationList()).who(carol.der),
  ).toBe('carol')
  expect(await createCertificateFixture(ca, carols, root.issueRevocationList()).who(carol.der)).toBe('unavailable')
  expect(await createCertificateFixture(ca, carols, lower.issueRevocationList()).who(carol.der)).toBe('unavailable')
  root.revoke(lower)
  expect(
    await createCertificateFixture(ca, carols, lower.issueRevocationList() + root.issueRevocationList()).who(carol.der),
  ).toBeUndefined()
})

test('a list that its authority has not signed is none', async () => {
  const namesake = opensslAuthority(dir, 'namesake', noon, '/O=Example/CN=root')
  expect(await createCertificateFixture(root.cert, rows(), namesake.issueRevocationList()).who(ada.der)).toBe(
    'unavailable',
  )
  const der = decodePem(after)
  const changed = Buffer.from(der)
  changed[changed.length - 1] = (der.at(-1) ?? 0) ^ 1
  expect(await createCertificateFixture(root.cert, rows(), changed).who(ada.der)).toBe('unavailable')
  // With the right one beside it, it is as if it were not there.
  expect(
    await createCertificateFixture(root.cert, rows(), namesake.issueRevocationList({ from: noon }) + after).who(
      bob.der,
    ),
  ).toBeUndefined()
})

test('refuses partial lists: deltas, and those for some certificates only', async () => {
  for (const extension of [
    '2.5.29.27=critical,DER:02:01:01',
    'issuingDistributionPoint=critical,@point\n[point]\nonlyuser=TRUE',
  ]) {
    const site = createCertificateFixture(root.cert, rows(), root.issueRevocationList({ extensions: [extension] }))
    expect(await site.who(ada.der), extension).toBe('unavailable')
    expect(site.logged.join()).toContain('critical extension 2.5.29.')
  }
})

test('a file that is gone, cut or something else stops everything, and says so once', async () => {
  const harms: [(file: string) => void, string][] = [
    [(file) => rmSync(file), 'it is not there'],
    [(file) => truncateSync(file, 0), 'no revocation list'],
    [(file) => writeFileSync(file, decodePem(after).subarray(0, -1)), 'cut off'],
    [(file) => writeFileSync(file, Buffer.concat([decodePem(after), Buffer.of(0)])), 'behind the end'],
    [(file) => writeFileSync(file, root.cert), 'no revocation list'],
    [(file) => writeFileSync(file, Buffer.from('3080', 'hex')), 'without end'],
  ]
  for (const [harm, reason] of harms) {
    const site = createCertificateFixture(root.cert, rows(), after)
    expect(await site.who(ada.der)).toBe('ada')
    harm(site.crl_file)
    expect(await site.who(ada.der), reason).toBe('unavailable')
    expect(await site.who(ada.der)).toBe('unavailable')
    expect(site.logged.filter((line) => line.includes('crl.failed'))).toHaveLength(1)
    expect(site.logged.join()).toContain(reason)
    writeFileSync(site.crl_file, after)
    expect(await site.who(ada.der)).toBe('ada')
  }
})

test('the site’s own revocations count as well: of the certificate by its id, of the subject for older ones', async () => {
  const site = createCertificateFixture(root.cert, rows())
  const { jti = '' } = (await site.claims(ada.der)) ?? {}
  site.revocations.revoke({ jti, at: new Date(noon).toISOString(), reason: 'card lost' })
  expect([await site.who(ada.der), await site.who(bob.der)]).toEqual([undefined, 'bob'])
  site.revocations.revoke({ subject: 'bob', at: new Date(noon).toISOString(), reason: 'left' })
  expect(await site.who(bob.der)).toBeUndefined()
})
