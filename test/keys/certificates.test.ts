// Contents of certificates of a site authority, read by the platform's own parser and not by the library that made them.
import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  createAuthorityCertificate,
  createCertificateRequest,
  createSiteCertificate,
  generateCertificateKeys,
  parseCertificateRequest,
} from '../../adapters/keys/x509/certificate-issuance.ts'

const now = Date.parse('2026-11-21T12:00:00Z')
const life = { not_before: now, not_after: now + 86_400_000 }
const names = { site: 'alpha', dns: ['alpha.example'], ip: ['192.0.2.7', '2001:db8::7'] }

test('a site certificate names the site and its hosts, for both ends of a connection, and is of its authority', async () => {
  const keys = await generateCertificateKeys()
  const certificate = await createAuthorityCertificate('alpha authority', keys, life)
  const leaf = await createSiteCertificate(
    names,
    (await generateCertificateKeys()).publicKey,
    { certificate, key: keys.privateKey },
    life,
  )
  const [ca, site] = [new X509Certificate(certificate), new X509Certificate(leaf)]
  expect([ca.ca, ca.subject, ca.checkIssued(ca), ca.verify(ca.publicKey)]).toEqual([
    true,
    'CN=alpha authority',
    true,
    true,
  ])
  expect([site.ca, site.checkIssued(ca), site.verify(ca.publicKey)]).toEqual([false, true, true])
  expect(site.subjectAltName?.split(', ')).toEqual([
    'URI:urn:platform:site:alpha',
    'DNS:alpha.example',
    'IP Address:192.0.2.7',
    'IP Address:2001:DB8:0:0:0:0:0:7',
  ])
  // serverAuth and clientAuth of RFC 5280, 4.2.1.12.
  expect(site.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'])
  expect([site.validFromDate.getTime(), site.validToDate.getTime()]).toEqual([life.not_before, life.not_after])
  expect(site.serialNumber).toMatch(/^40[0-9A-F]{30}$/)
})

test('a request says the names, and only who holds the key can have made it', async () => {
  const keys = await generateCertificateKeys()
  const request = await createCertificateRequest(names, keys)
  const read = await parseCertificateRequest(request)
  expect(read?.names).toEqual({ ...names, ip: ['192.0.2.7', expect.stringMatching(/^2001:0?db8:/i)] })
  const made = Buffer.from(request.replaceAll(/-----[^\n]+|\n/g, ''), 'base64')
  const last = made.length - 1
  made[last] = (made[last] ?? 0) ^ 1
  const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${made.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
  expect(await parseCertificateRequest(forged)).toBeUndefined()
  expect(await parseCertificateRequest('no request at all')).toBeUndefined()
})
