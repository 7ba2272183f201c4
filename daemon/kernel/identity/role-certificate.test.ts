// Which certificates are those of a role: by name, authority, time and use.
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  createAuthority,
  issueCertificate,
  issueIrregularCertificate,
} from '../../../test/support/keys/site-certificates.ts'
import { identifyRole } from './role-certificate.ts'

const dir = mkdtempSync(path.join(tmpdir(), 'role-certificate-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const authority = await createAuthority(dir, 'alpha')
const root = new X509Certificate(authority.certificate)
/** The authority began a day before it was made. */
const trust = { site: 'alpha', authorities: [root], now: root.validFromDate.getTime() + 86_400_000 + 1_000 }
const uri = 'urn:platform:site:alpha:role:ingest'
const [client, server] = ['1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.1']

async function issue(more: { site?: string; role?: string } = {}, by = authority) {
  return new X509Certificate((await issueCertificate(dir, by, 'x', { site: 'alpha', role: 'ingest', ...more })).pem)
}

async function issueOdd(odd: Parameters<typeof issueIrregularCertificate>[3]) {
  return new X509Certificate((await issueIrregularCertificate(dir, authority, 'odd', odd)).pem)
}

test('one name, an authority of the site, the time and the end of the connection make it that of a role', async () => {
  const certificate = await issue()
  for (const end of ['client', 'server'] as const)
    expect(identifyRole(certificate, end, trust)).toEqual({ role: 'ingest' })
  expect(identifyRole(certificate, 'client', { ...trust, site: 'bravo' })).toEqual({ fault: 'other_site' })
  for (const off_ms of [-3, 3].map((days) => days * 86_400_000))
    expect(identifyRole(certificate, 'client', { ...trust, now: trust.now + off_ms })).toEqual({
      fault: 'not_valid_now',
    })
  const other = await createAuthority(dir, 'other')
  expect(identifyRole(await issue({}, other), 'client', trust)).toEqual({ fault: 'other_authority' })
  expect(identifyRole(await issue({}, { ...other, certificate: authority.certificate }), 'client', trust)).toEqual({
    fault: 'other_authority',
  })
})

test('no other name, and none beside it', async () => {
  for (const uris of [[], ['urn:platform:site:alpha'], [uri, 'urn:x'], [`${uri}:x`], [`x${uri}`], [uri.toUpperCase()]])
    expect(identifyRole(await issueOdd({ uris, uses: [client] }), 'client', trust)).toEqual({ fault: 'names_no_role' })
  const hidden = await issueOdd({ uris: [], uses: [client], dns: [`a, URI:${uri}`] })
  expect(identifyRole(hidden, 'client', trust)).toEqual({ fault: 'names_no_role' })
})

test('each end of the connection needs its use', async () => {
  const ofClient = await issueOdd({ uris: [uri], uses: [client] })
  expect(identifyRole(ofClient, 'client', trust)).toEqual({ role: 'ingest' })
  expect(identifyRole(ofClient, 'server', trust)).toEqual({ fault: 'wrong_use' })
  expect(identifyRole(await issueOdd({ uris: [uri], uses: [server] }), 'client', trust)).toEqual({ fault: 'wrong_use' })
  expect(identifyRole(await issueOdd({ uris: [uri], uses: [] }), 'client', trust)).toEqual({ fault: 'wrong_use' })
})
