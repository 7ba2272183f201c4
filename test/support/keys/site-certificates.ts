// Authorities and certificates for tests, the unsound ones too: PEM files as `platform keys cert` writes them.
import '../../../adapters/keys/x509/reflect-metadata.ts'
import { webcrypto } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { ExtendedKeyUsageExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509'
import {
  createAuthorityCertificate,
  createSiteCertificate,
  generateCertificateKeys,
} from '../../../adapters/keys/x509/certificate-issuance.ts'

export type SiteAuthority = Awaited<ReturnType<typeof createAuthority>>

const day_ms = 86_400_000

/** Writes `<name>-ca.pem`. */
export async function createAuthority(dir: string, name: string) {
  const keys = await generateCertificateKeys()
  const now = Date.now()
  const certificate = await createAuthorityCertificate(name, keys, {
    not_before: now - day_ms,
    not_after: now + day_ms,
  })
  const file = join(dir, `${name}-ca.pem`)
  fs.writeFileSync(file, certificate)
  return { certificate, key: keys.privateKey, file }
}

/** Writes `<name>.pem`, certificate and key in one; it names the site of its file name by default, or a role of it. */
export async function issueCertificate(
  dir: string,
  authority: SiteAuthority,
  name: string,
  more: { site?: string; role?: string; not_after?: number } = {},
) {
  const keys = await generateCertificateKeys()
  const { role } = more
  const site = { site: more.site ?? name, dns: ['localhost'], ip: ['127.0.0.1'] }
  const names = role === undefined ? site : { ...site, role }
  const not_after = more.not_after ?? Date.now() + day_ms
  const life = { not_before: Math.min(Date.now(), not_after) - day_ms, not_after }
  return writeCertificate(
    dir,
    name,
    await createSiteCertificate(names, keys.publicKey, authority, life),
    keys.privateKey,
  )
}

/** One that no authority of ours would sign: with these names and uses. */
export async function issueIrregularCertificate(
  dir: string,
  authority: SiteAuthority,
  name: string,
  odd: { uris: readonly string[]; dns?: readonly string[]; uses: readonly string[] },
) {
  const keys = await generateCertificateKeys()
  const made = await X509CertificateGenerator.create(
    {
      subject: 'CN=odd',
      issuer: (await import('@peculiar/x509').then(({ X509Certificate }) => new X509Certificate(authority.certificate)))
        .subjectName,
      notBefore: new Date(Date.now() - day_ms),
      notAfter: new Date(Date.now() + day_ms),
      publicKey: keys.publicKey,
      signingKey: authority.key,
      signingAlgorithm: { name: 'ECDSA', hash: 'SHA-384' },
      extensions: [
        ...(odd.uses.length === 0 ? [] : [new ExtendedKeyUsageExtension([...odd.uses])]),
        new SubjectAlternativeNameExtension([
          ...odd.uris.map((value) => ({ type: 'url' as const, value })),
          ...(odd.dns ?? []).map((value) => ({ type: 'dns' as const, value })),
        ]),
      ],
    },
    webcrypto,
  )
  return writeCertificate(dir, name, made.toString('pem'), keys.privateKey)
}

async function writeCertificate(dir: string, name: string, certificate: string, key: webcrypto.CryptoKey) {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64')
  const file = join(dir, `${name}.pem`)
  const text = `${certificate.trim()}\n-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`
  fs.writeFileSync(`${file}.new`, text, { mode: 0o600 })
  fs.renameSync(`${file}.new`, file)
  return { file, pem: text }
}
